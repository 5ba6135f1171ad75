use super::*;

fn fault(status: u16, words: &str) -> Fault {
    let image = "ghcr.io/team/app:1".parse().unwrap();
    let error = EngineError::Refused { call: "pull image", status, message: words.to_owned() };
    explain(&image, &error, false)
}

/// What engines and registries really say: the engines of 20.10 to 29, taken down from them or
/// from reports of their users.
const SAID: &[(Reason, u16, &str)] = &[
    // Docker Hub
    (
        Reason::Unauthorized,
        404,
        "pull access denied for none/none, repository does not exist or may require 'docker login': \
         denied: requested access to the resource is denied",
    ),
    (
        Reason::Unauthorized,
        404,
        "pull access denied, repository does not exist or may require authorization: server message: \
         insufficient_scope: authorization failed",
    ),
    (
        Reason::ImageNotFound,
        404,
        "manifest for nginx:none not found: manifest unknown: manifest unknown",
    ),
    (
        Reason::ImageNotFound,
        404,
        "failed to resolve reference \"docker.io/library/nginx:none\": \
         docker.io/library/nginx:none: not found",
    ),
    (
        Reason::Unauthorized,
        500,
        "Get \"https://registry-1.docker.io/v2/team/app/manifests/1\": unauthorized: incorrect \
         username or password",
    ),
    (
        Reason::ImagePullBackOff,
        500,
        "toomanyrequests: You have reached your pull rate limit. You may increase the limit by \
         authenticating and upgrading: https://www.docker.com/increase-rate-limit",
    ),
    (
        Reason::ImagePullBackOff,
        429,
        "error from registry: You have reached your unauthenticated pull rate limit. \
         https://www.docker.com/increase-rate-limit",
    ),
    (
        Reason::ImagePullBackOff,
        500,
        "failed to copy: httpReadSeeker: failed open: unexpected status code \
         https://registry-1.docker.io/v2/a/b/blobs/sha256:00: 429 Too Many Requests",
    ),
    // GHCR
    (Reason::Unauthorized, 500, "Head \"https://ghcr.io/v2/a/b/manifests/latest\": denied: denied"),
    (Reason::Unauthorized, 500, "Head \"https://ghcr.io/v2/a/b/manifests/1\": unauthorized"),
    (
        Reason::Unauthorized,
        403,
        "failed to resolve reference \"ghcr.io/a/b:1\": failed to authorize: failed to fetch \
         anonymous token: unexpected status from GET request to \
         https://ghcr.io/token?scope=x: 403 Forbidden",
    ),
    (Reason::ImageNotFound, 404, "manifest unknown"),
    (Reason::Unauthorized, 500, "denied"),
    (Reason::ImagePullBackOff, 500, "mkdir /var/lib/docker/tmp: permission denied"),
    // Harbor
    (
        Reason::Unauthorized,
        401,
        "unauthorized: unauthorized to access repository: team/app, action: pull: unauthorized to \
         access repository: team/app, action: pull",
    ),
    (Reason::ImageNotFound, 404, "unknown: artifact team/app:none not found"),
    (Reason::ImageNotFound, 404, "unknown: repository team/none not found"),
    (Reason::ImageNotFound, 500, "unknown: project none not found: project none not found"),
    // docker-registry, with and without htpasswd
    (
        Reason::ImageNotFound,
        404,
        "manifest for 198.18.0.1:5000/app:2 not found: manifest unknown: manifest unknown",
    ),
    (Reason::ImageNotFound, 404, "name unknown: repository name not known to registry"),
    (
        Reason::Unauthorized,
        500,
        "Head \"http://198.18.0.1:5000/v2/app/manifests/1\": no basic auth credentials",
    ),
    (
        Reason::Unauthorized,
        401,
        "failed to resolve reference \"198.18.0.1:5000/app:1\": unexpected status from HEAD request \
         to http://198.18.0.1:5000/v2/app/manifests/1: 401 Unauthorized",
    ),
    // GitLab, ECR, Artifact Registry, Quay
    (
        Reason::Unauthorized,
        500,
        "Head \"https://registry.gitlab.com/v2/a/b/manifests/1\": denied: access forbidden",
    ),
    (
        Reason::Unauthorized,
        500,
        "Head \"https://1.dkr.ecr.eu-west-1.amazonaws.com/v2/a/manifests/1\": no basic auth credentials",
    ),
    (
        Reason::Unauthorized,
        500,
        "denied: Permission \"artifactregistry.repositories.downloadArtifacts\" denied on resource \
         \"projects/p/locations/l/repositories/r\" (or it may not exist)",
    ),
    (Reason::Unauthorized, 500, "unauthorized: access to the requested resource is not authorized"),
    (
        Reason::ImageNotFound,
        404,
        "repository 1.dkr.ecr.eu-west-1.amazonaws.com/a not found: name unknown: The repository with name 'a' does not exist in the registry with id '1'",
    ),
    // The way there
    (
        Reason::RegistryUnreachable,
        500,
        "Get \"https://none.example.com/v2/\": dial tcp: lookup none.example.com on 1.1.1.1:53: no such host",
    ),
    (
        Reason::RegistryUnreachable,
        500,
        "Get \"http://127.0.0.1:9/v2/\": dial tcp 127.0.0.1:9: connect: connection refused",
    ),
    (
        Reason::RegistryUnreachable,
        500,
        "Get \"https://ghcr.io/v2/\": net/http: request canceled while waiting for connection \
         (Client.Timeout exceeded while awaiting headers)",
    ),
    (
        Reason::RegistryUnreachable,
        500,
        "Get \"https://r.io/v2/\": x509: certificate signed by unknown authority",
    ),
    (
        Reason::RegistryUnreachable,
        500,
        "Get \"https://r.io/v2/\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
    ),
    (
        Reason::RegistryUnreachable,
        500,
        "Get \"https://r.io:5000/v2/\": http: server gave HTTP response to HTTPS client",
    ),
    (Reason::RegistryUnreachable, 500, "received unexpected HTTP status: 503 Service Unavailable"),
    (
        Reason::RegistryUnreachable,
        500,
        "error parsing HTTP 502 response body: invalid character '<' looking for beginning of value: \"<html><h1>502 Bad Gateway</h1></html>\"",
    ),
    (Reason::RegistryUnreachable, 500, "unexpected EOF"),
    (Reason::RegistryUnreachable, 500, "dial tcp 10.0.0.1:443: i/o timeout"),
    // The host
    (
        Reason::NoSpace,
        500,
        "failed to register layer: ApplyLayer exit status 1 stdout:  stderr: write /usr/lib/x: no space left on device",
    ),
    (Reason::NoSpace, 500, "write /var/lib/docker/tmp/GetImageBlob1: no space left on device"),
    (Reason::NoSpace, 500, "failed to extract layer sha256:00: write /x: disk quota exceeded"),
    (
        Reason::PlatformMismatch,
        500,
        "no matching manifest for linux/arm64/v8 in the manifest list entries",
    ),
    (
        Reason::PlatformMismatch,
        404,
        "no matching manifest for linux/arm64/v8 in the manifest list entries: no match for platform in manifest: not found",
    ),
    (
        Reason::PlatformMismatch,
        500,
        "image with reference sha256:00 was found but does not match the specified platform: wanted linux/s390x, actual: linux/amd64",
    ),
    (
        Reason::PlatformMismatch,
        500,
        "image operating system \"windows\" cannot be used on this platform: operating system is not supported",
    ),
    (Reason::InvalidSpec, 400, "invalid reference format"),
    (Reason::ImagePullBackOff, 500, "filesystem layer verification failed for digest sha256:00"),
    (Reason::ImagePullBackOff, 500, ""),
];

#[test]
fn what_engines_and_registries_say_is_told_apart() {
    for &(reason, status, words) in SAID {
        let fault = fault(status, words);
        assert_eq!(fault.reason, reason, "{status} {words}");
        assert!(fault.message.contains("ghcr.io/team/app:1"), "{}", fault.message);
        let limited = status == 429 || words.contains("toomany") || words.contains("Too Many");
        assert_eq!(fault.least_wait, Duration::from_secs(if limited { 60 } else { 0 }), "{words}");
    }
}

#[test]
fn a_message_says_what_to_do() {
    for (words, says) in [
        ("unauthorized", "name a Secret for ghcr.io in imagePullSecrets"),
        ("manifest unknown", "has no such image or tag"),
        ("x509: certificate signed by unknown authority", "/etc/docker/certs.d"),
        ("http: server gave HTTP response to HTTPS client", "insecure-registries"),
        ("dial tcp: lookup x: no such host", "DNS"),
        ("received unexpected HTTP status: 503 Service Unavailable", "error of its own"),
        ("no matching manifest for linux/arm64", "spec.platform"),
        ("no space left on device", "free some space"),
        ("toomanyrequests: slow down", "higher limit"),
    ] {
        let message = fault(500, words).message;
        assert!(message.contains(says) && message.contains(words), "{message}");
    }
    let image: ImageReference = "nginx".parse().unwrap();
    let denied =
        EngineError::Refused { call: "pull image", status: 401, message: "unauthorized".into() };
    let message = explain(&image, &denied, true).message;
    assert!(message.contains("nginx:latest: registry docker.io refuses the login"), "{message}");
    assert!(stalled(&image, Duration::from_mins(2), false).message.contains("docker.io for 120 s"));
}

#[test]
fn a_message_shows_no_login_and_has_an_end() {
    let words = "Get \"https://kim:hidden@r.io/v2/\": redirected to \
                 https://s3.example.com/blob?X-Amz-Signature=hidden: 403 Forbidden";
    let message = fault(500, words).message;
    assert!(!message.contains("hidden"), "{message}");
    assert!(
        message.contains("https://r.io/v2/") && message.contains("s3.example.com"),
        "{message}"
    );
    assert!(fault(500, &"ü".repeat(10_000)).message.chars().count() < 600);
}

#[test]
fn an_engine_that_went_away_is_not_the_registrys_fault() {
    let image = "nginx".parse().unwrap();
    let gone = EngineError::Unreachable { call: "pull image", cause: "eof".into(), sent: true };
    assert_eq!(explain(&image, &gone, false).reason, Reason::EngineUnreachable);
}
