//! No text makes a parser panic, and what is accepted shows as given and parses again.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use proptest::prelude::*;

use super::*;

fn holds<T>(text: &str) -> Result<(), TestCaseError>
where
    T: FromStr<Err = Invalid> + Display + Debug + PartialEq,
{
    match text.parse::<T>() {
        Ok(parsed) => prop_assert_eq!(parsed.to_string().parse::<T>(), Ok(parsed)),
        Err(error) => {
            prop_assert!(error.to_string().chars().count() < 400, "{}", error);
            prop_assert!(!error.to_string().contains(['\n', '\0']), "{}", error);
        }
    }
    Ok(())
}

fn all(text: &str) -> Result<(), TestCaseError> {
    holds::<AbsolutePath>(text)?;
    holds::<Bind>(text)?;
    holds::<Capability>(text)?;
    holds::<ContainerName>(text)?;
    holds::<DataKey>(text)?;
    holds::<DnsLabel>(text)?;
    holds::<Duration>(text)?;
    holds::<HostIp>(text)?;
    holds::<HostName>(text)?;
    holds::<ImageReference>(text)?;
    holds::<ObjectName>(text)?;
    holds::<Port>(text)?;
    holds::<Quantity>(text)?;
    holds::<Signal>(text)?;
    holds::<VolumeName>(text)?;
    holds::<WorkingDir>(text)
}

proptest! {
    #[test]
    fn on_any_text(text in any::<String>()) {
        all(&text)?;
    }

    #[test]
    fn on_likely_text(text in "([0-9]{1,20}|[.:/,@+_-]|[numkKMGTPEie]|ro|tcp|SIG|kibotos-|\0|é){0,30}") {
        all(&text)?;
    }
}
