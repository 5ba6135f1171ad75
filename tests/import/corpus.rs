//! Every recorded create body is imported and rendered again.

use super::{cases, lost, of_body, warned};

#[test]
fn what_people_run_comes_out_with_the_same_meaning_or_the_table_says_what_is_lost() {
    let mut found = Vec::new();
    for call in cases::all() {
        let imported = of_body(&call.body);
        let lost = lost(&call.body, &imported, call.engine);
        let warned = warned(&imported);
        if !lost.is_empty() || !warned.is_empty() {
            let mut lines: Vec<_> = warned.iter().map(|line| format!("  warned {line}")).collect();
            lines.extend(lost.iter().map(|line| format!("  lost   {line}")));
            found.push((call.case, call.client.to_owned(), lines.join("\n")));
        }
    }
    // Clients that fare alike stand in one line.
    found.dedup_by(|next, before| {
        let alike = next.0 == before.0 && next.2 == before.2;
        if alike {
            before.1 += " ";
            before.1 += &next.1;
        }
        alike
    });
    let found: Vec<_> =
        found.iter().map(|(case, clients, lines)| format!("{case} {clients}\n{lines}")).collect();
    let found = found.join("\n");
    assert_eq!(found, TABLE.trim(), "\n{found}");
}

/// By case and client: what is warned of, and what differs after (left as it was, right as it is).
const TABLE: &str = r#"
case-014 v141 v141_cli28 v148
  warned HostConfig.Links: links are not supported: join both to one network, where each is found by its name
  lost   HostConfig.Links: ["dkim:dkim","dovecot:dovecot"] | null
case-022 v141 v141_cli28 v148
  warned HostConfig.VolumesFrom: is not supported: name the volumes themselves in container.binds
  lost   HostConfig.VolumesFrom: ["dbstore"] | null
case-049 v141
  warned HostConfig.Binds[0]: source "./data" is a relative path: write the absolute one on the host, such as /srv/data: left out
  lost   HostConfig.Binds: ["./data:/data"] | null
case-057 v141
  warned HostConfig.Binds[0]: source "./ftpserver" is a relative path: write the absolute one on the host, such as /srv/data: left out
  warned HostConfig.Binds[1]: source "./ftpserver/files" is a relative path: write the absolute one on the host, such as /srv/data: left out
  lost   HostConfig.Binds: ["./ftpserver/files:/tmp","./ftpserver:/app"] | null
case-062 v141 v141_cli28 v148
  warned HostConfig.VolumesFrom: is not supported: name the volumes themselves in container.binds
  lost   HostConfig.VolumesFrom: ["mpide_spool_1"] | null
case-087 v141 v141_cli28 v148
  warned Env[0]: DISPLAY has no value: left out (an engine takes a variable of the image away for it)
  warned HostConfig.CpuRealtimeRuntime: has no counterpart in a Workspace: left out
  lost   Env: ["DISPLAY"] | null
  lost   HostConfig.CpuRealtimeRuntime: 950000 | null
case-102 v141_cli28
  lost   refused for the engine: spec.container.mounts[0].volumeOptions.subpath: needs engine API 1.45 (Docker 26), and the host's engine has 1.41
"#;
