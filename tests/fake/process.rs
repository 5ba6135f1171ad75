//! What the process of a container does, guessed from its command.

use std::{collections::BTreeMap, path::Path};

/// What a process does with itself and with signals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// It ends as soon as it has begun, with this code.
    pub ends_with: Option<i64>,
    /// Signals it ends at, and with which code. As the first process of its namespace it ignores
    /// all others.
    pub handles: BTreeMap<i32, i64>,
    /// It cannot begin: the code, and what the runtime says.
    pub fails: Option<(i64, String)>,
}

impl Process {
    /// Runs until it is killed, whatever it is told before.
    pub fn stubborn() -> Self {
        Self::default()
    }

    /// Runs until SIGTERM, and then ends with `code`.
    pub fn obedient(code: i64) -> Self {
        Self { handles: BTreeMap::from([(15, code)]), ..Self::default() }
    }

    /// Ends at once.
    pub fn ending(code: i64) -> Self {
        Self { ends_with: Some(code), ..Self::default() }
    }

    fn failing(code: i64, program: &str, why: &str) -> Self {
        let message = format!(
            "failed to create shim task: OCI runtime create failed: runc create failed: \
             unable to start container process: exec: \"{program}\": {why}: unknown"
        );
        Self { fails: Some((code, message)), ..Self::default() }
    }

    /// What a busybox would do. A program whose name begins with `nope` does not exist, and one
    /// that is a directory of the host is no program; any program that is not known here runs
    /// until it is killed.
    pub fn of(command: &[String]) -> Self {
        let Some((program, arguments)) = command.split_first() else {
            return Self::stubborn();
        };
        if program.starts_with('/') && Path::new(program).is_dir() {
            return Self::failing(126, program, "permission denied");
        }
        let name = program.rsplit('/').next().unwrap_or_default();
        match name {
            "busybox" => Self::of(arguments),
            "true" | "echo" => Self::ending(0),
            "false" => Self::ending(1),
            "sleep" if arguments == ["0"] => Self::ending(0),
            "sh" => arguments.iter().position(|a| a == "-c").map_or_else(Self::stubborn, |at| {
                arguments.get(at + 1).map_or_else(Self::stubborn, |script| Self::scripted(script))
            }),
            name if name.starts_with("nope") => {
                Self::failing(127, program, "executable file not found in $PATH")
            }
            _ => Self::stubborn(),
        }
    }

    /// A script either waits, maybe with `trap "exit CODE" SIGNAL`, or says its code.
    fn scripted(script: &str) -> Self {
        if ["sleep", "while", "wait"].iter().any(|word| script.contains(word)) {
            let handles = script.split(';').filter_map(|part| {
                let (action, signals) = part.trim().strip_prefix("trap \"")?.split_once('"')?;
                let code = action.strip_prefix("exit ")?.parse().ok()?;
                Some(signals.split_whitespace().filter_map(move |s| Some((signal(s)?, code))))
            });
            return Self { handles: handles.flatten().collect(), ..Self::default() };
        }
        let code = script.rsplit_once("exit ").and_then(|(_, code)| code.trim().parse().ok());
        Self::ending(code.unwrap_or(0))
    }

    /// The code with which it ends when it gets this signal, if it ends.
    pub fn after(&self, signal: i32, init: bool) -> Option<i64> {
        match self.handles.get(&signal) {
            Some(code) => Some(*code),
            None if signal == 9 => Some(137),
            // Under docker-init it is not the first process: what it does not handle kills it.
            None if init && ![17, 18, 23, 28].contains(&signal) => Some(i64::from(128 + signal)),
            None => None,
        }
    }
}

/// The number of a signal: `15`, `TERM` or `SIGTERM`.
pub fn signal(text: &str) -> Option<i32> {
    const NAMES: [(&str, i32); 16] = [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("KILL", 9),
        ("USR1", 10),
        ("SEGV", 11),
        ("USR2", 12),
        ("PIPE", 13),
        ("ALRM", 14),
        ("TERM", 15),
        ("CHLD", 17),
        ("CONT", 18),
        ("STOP", 19),
        ("URG", 23),
        ("WINCH", 28),
    ];
    if let Ok(number) = text.parse() {
        return (1..=64).contains(&number).then_some(number);
    }
    let upper = text.to_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}
