use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::fixture::{Cluster, Namespace, cluster};

/// `kubectl` in a namespace that one test has to itself, and in the project's directory.
///
/// Command lines are split at spaces; no test needs an argument with a space in it.
pub struct Kubectl {
    cluster: Cluster,
    namespace: Namespace,
}

/// How one `kubectl` ended.
pub struct Answer {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Kubectl {
    pub async fn in_a_namespace(hint: &str) -> Self {
        let cluster = cluster().await;
        let namespace = cluster.namespace(hint).await;
        Self { cluster, namespace }
    }

    /// What a command that succeeds prints.
    pub fn run(&self, line: &str) -> String {
        self.feed("", line)
    }

    /// What a command that succeeds prints, given `input`.
    pub fn feed(&self, input: &str, line: &str) -> String {
        let answer = self.answer(input, line);
        assert_eq!(answer.code, 0, "kubectl {line}: {}{}", answer.stdout, answer.stderr);
        answer.stdout
    }

    /// What a command that prints JSON prints.
    pub fn json(&self, input: &str, line: &str) -> Value {
        serde_json::from_str(&self.feed(input, line)).expect("kubectl prints JSON")
    }

    /// The complaint of a command that fails.
    pub fn refusal(&self, input: &str, line: &str) -> String {
        let answer = self.answer(input, line);
        assert_eq!(answer.code, 1, "kubectl {line}: {}{}", answer.stdout, answer.stderr);
        answer.stderr.trim_end().to_owned()
    }

    /// How a command ends, given `input`.
    pub fn answer(&self, input: &str, line: &str) -> Answer {
        let mut child = self.command(line).spawn().expect("kubectl can be started");
        let mut stdin = child.stdin.take().expect("stdin is piped");
        // A command that reads no input may have closed it.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().expect("kubectl ends");
        Answer {
            code: output.status.code().expect("kubectl ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("kubectl speaks UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("kubectl speaks UTF-8"),
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.cluster.kubectl();
        command
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("KUBECTL_EXTERNAL_DIFF", "diff -U0")
            .args(["--namespace", self.namespace.name()])
            .args(line.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// The words of a table's header.
pub fn header(table: &str) -> Vec<&str> {
    table.lines().next().unwrap_or_default().split_whitespace().collect()
}

/// The words of a table's only row.
pub fn row(table: &str) -> Vec<&str> {
    let rows: Vec<_> = table.lines().skip(1).collect();
    let [row] = rows[..] else { panic!("one row: {table}") };
    row.split_whitespace().collect()
}
