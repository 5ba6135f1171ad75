//! Where the fields of a document stand in their file.

/// A value's place, and those of all below it.
#[derive(Clone, Debug)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    below: Below,
}

#[derive(Clone, Debug)]
enum Below {
    Nothing,
    Items(Vec<Place>),
    Fields(Vec<(String, Place)>),
}

impl Place {
    /// Of a value with nothing below it.
    pub fn of_scalar(line: usize, column: usize) -> Self {
        Self { line, column, below: Below::Nothing }
    }

    /// Of a list.
    pub fn of_list(line: usize, column: usize, items: Vec<Self>) -> Self {
        Self { line, column, below: Below::Items(items) }
    }

    /// Of a map.
    pub fn of_map(line: usize, column: usize, fields: Vec<(String, Self)>) -> Self {
        Self { line, column, below: Below::Fields(fields) }
    }

    /// The fields of a map.
    pub fn fields(&self) -> &[(String, Self)] {
        match &self.below {
            Below::Fields(fields) => fields,
            Below::Nothing | Below::Items(_) => &[],
        }
    }

    /// The same below another place: a field's own is that of its key.
    pub fn at(self, line: usize, column: usize) -> Self {
        Self { line, column, ..self }
    }

    /// The place of a field, or of the nearest parent that is there.
    pub fn find(&self, path: &str) -> &Self {
        match &self.below {
            Below::Nothing => self,
            Below::Items(items) => {
                let index = path.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let item = index.and_then(|(index, rest)| {
                    Some((items.get(index.parse::<usize>().ok()?)?, rest))
                });
                item.map_or(self, |(item, rest)| item.find(rest))
            }
            Below::Fields(fields) => {
                // A key may have dots in it: of those that fit, the longest is meant.
                let fits =
                    fields.iter().filter_map(|(key, place)| Some((key, place, after(path, key)?)));
                let longest = fits.max_by_key(|(key, ..)| key.len());
                longest.map_or(self, |(_, place, rest)| place.find(rest))
            }
        }
    }
}

/// What is left of a path behind a key, which stands as `key`, `.key` or `[key]`.
fn after<'a>(path: &'a str, key: &str) -> Option<&'a str> {
    if let Some(rest) = path.strip_prefix('[').and_then(|rest| rest.strip_prefix(key)) {
        return rest.strip_prefix(']');
    }
    let rest = path.strip_prefix('.').unwrap_or(path).strip_prefix(key)?;
    (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_dots_in_it_is_found_however_it_is_written() {
        let value = |line| Place::of_scalar(line, 1);
        let labels = Place::of_map(
            2,
            1,
            vec![("app".to_owned(), value(3)), ("app.kubernetes.io/name".to_owned(), value(4))],
        );
        let root = Place::of_map(1, 1, vec![("labels".to_owned(), labels)]);
        assert_eq!(root.find("labels.app.kubernetes.io/name").line, 4);
        assert_eq!(root.find("labels[app.kubernetes.io/name]").line, 4);
        assert_eq!(root.find("labels[app]").line, 3);
        assert_eq!(root.find("labels[other]").line, 2, "the nearest parent");
        assert_eq!(root.find("").line, 1);
    }
}
