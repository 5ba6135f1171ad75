//! How long `kibotos render` takes for ten thousand Workspaces, against reading them alone: a ratio
//! in one run on one machine.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WORKSPACES: usize = 10_000;
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("kibotos-bench-{}.yaml", std::process::id()));
    let mut text = String::new();
    for i in 0..WORKSPACES {
        write!(
            text,
            "---\napiVersion: kibotos.dev/v1alpha1\nkind: Workspace\nmetadata: {{name: w{i}}}\nspec:\n  \
             container:\n    image: registry.example.com/team/app:1.{i}\n    args: [serve, --port, '8080']\n    \
             env: [{{name: A, value: '1'}}, {{name: B, value: '2'}}]\n    \
             ports: [{{containerPort: 8080, hostPort: {}}}]\n    binds: ['/srv/{i}:/srv:ro']\n    \
             restartPolicy: {{name: always}}\n  resources: {{limits: {{memory: 512Mi, cpu: 500m}}}}\n",
            1024 + i
        )?;
    }
    fs::write(&file, &text)?;
    let parse = best(|| {
        let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple_with_options(
            &text,
            serde_saphyr::options! {
                budget: serde_saphyr::budget! { max_documents: text.len(), max_nodes: text.len() },
            },
        )?;
        assert_eq!(documents.len(), WORKSPACES);
        Ok(())
    })?;
    let render = best(|| {
        let status = Command::new(env!("CARGO_BIN_EXE_kibotos"))
            .arg("render")
            .arg("-f")
            .arg(&file)
            .stdout(Stdio::null())
            .status()?;
        assert!(status.success());
        Ok(())
    })?;
    fs::remove_file(&file)?;
    println!("| what | time | against reading the YAML |\n|---|---|---|");
    println!("| read {WORKSPACES} Workspaces as YAML | {parse:.2?} | 1.00 |");
    let ratio = render.as_secs_f64() / parse.as_secs_f64();
    println!("| kibotos render | {render:.2?} | {ratio:.2} |");
    Ok(())
}

/// The best of some runs.
fn best(mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}
