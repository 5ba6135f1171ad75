//! `environment` and `env_file` of a compose file.

use kibotos::import::{Imported, Kind, Request, import};

use super::{request, warned};

/// The import of one service that has `service`, with `a.env`, `b.env` and `--env-file` as given.
fn of(service: &str, files: [&str; 2], env: &str) -> Imported {
    let text = format!("services: {{web: {{image: app, network_mode: bridge, {service}}}}}");
    let read = |path: &str| match path {
        "/srv/stack/a.env" => Ok(files[0].to_owned()),
        "/srv/stack/b.env" => Ok(files[1].to_owned()),
        _ => Err("no such file".to_owned()),
    };
    import(&Request { env_file: Some(env), read: &read, ..request(Kind::Compose, &text) }).unwrap()
}

fn env(imported: &Imported) -> Vec<String> {
    let container = imported.workspaces[0].spec.container.clone().unwrap();
    let one = |v: kibotos::api::container::EnvVar| format!("{}={}", v.name, v.value.unwrap());
    container.env.unwrap_or_default().into_iter().map(one).collect()
}

#[test]
fn values_of_an_env_file_are_filled_in_as_compose_fills_them_in() {
    let file = "A=1\nB=${A}2\nC=\"$B\"\nD='${A}'\nE=$$A\nF=${NO:-d}\nG=${P}${S}\nP";
    let imported = of("env_file: a.env, environment: {S: own, P: own}", [file, ""], "P=project\n");
    assert_eq!(warned(&imported), [""; 0]);
    // The project's variables count before the service's own, and these before the file's.
    assert_eq!(
        env(&imported),
        ["A=1", "B=12", "C=12", "D=${A}", "E=$A", "F=d", "G=projectown", "P=own", "S=own"]
    );
}

#[test]
fn a_later_env_file_refers_to_an_earlier_one() {
    let imported = of("env_file: [a.env, {path: b.env}]", ["A=1\nB=1", "B=2\nC=$A$B"], "");
    assert_eq!(env(&imported), ["A=1", "B=2", "C=12"]);
}

#[test]
fn a_raw_env_file_is_taken_as_it_is() {
    let service = "env_file: [{path: a.env, format: raw}]";
    let imported = of(service, ["A=1\nB=\"${A}\" # x", ""], "");
    assert_eq!(env(&imported), ["A=1", "B=\"${A}\" # x"]);
    assert_eq!(warned(&imported), [""; 0]);
}

#[test]
fn the_env_file_of_the_project_may_refer_to_itself() {
    let imported = of("environment: {X: $B}", ["", ""], "A=1\nB=${A}2\n");
    assert_eq!(env(&imported), ["X=12"]);
}

#[test]
fn what_an_env_file_lacks_is_said_by_file_and_line() {
    for (service, file, warning) in [
        ("env_file: a.env", "A=1\nB=$NO", "services.web.env_file: a.env: line 2: NO is not set"),
        ("env_file: [a.env]", "NO", "services.web.env_file[0]: NO has no value"),
        (
            "env_file: [{path: gone.env, required: false}]",
            "",
            "services.web.env_file[0]: gone.env cannot be read",
        ),
        (
            "env_file: [{path: a.env, mode: x}]",
            "",
            "services.web.env_file[0].mode: has no counterpart",
        ),
    ] {
        let warned = warned(&of(service, [file, ""], ""));
        assert_eq!(warned.len(), 1, "{service}: {warned:?}");
        assert!(warned[0].starts_with(warning), "{service}: {warned:?}");
    }
    for (service, file, error) in [
        ("env_file: a.env", "A=${NO:?set NO}", "services.web.env_file: a.env: line 1:"),
        ("env_file: a.env", "A=\n'", "services.web.env_file: a.env: line 2: must be NAME=value"),
        (
            "env_file: [{path: a.env, format: toml}]",
            "",
            "services.web.env_file[0]: a.env: \"toml\" is no format",
        ),
    ] {
        let errors = of(service, [file, ""], "").errors;
        assert!(errors[0].to_string().starts_with(error), "{service}: {errors:?}");
    }
}
