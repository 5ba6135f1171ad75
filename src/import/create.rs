//! A create body as it is sent: the name is in the query, so it has to be given.

use super::{Found, Request, Unreadable, json};

/// The one container of a create body.
pub fn read(request: &Request<'_>) -> Result<Vec<Found>, Unreadable> {
    let body = json::parse("the create body", request.text)?;
    json::members("the create body", &body)?;
    let Some(name) = request.name else {
        return Err(Unreadable(
            "a create body has no name, which Docker's client sends beside it: give --name"
                .to_owned(),
        ));
    };
    let container = Some(name.to_owned());
    Ok(vec![Found { label: name.to_owned(), container, body, ..Found::default() }])
}
