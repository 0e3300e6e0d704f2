//! The part of an address after the question mark, and the bodies of requests.

use std::str::FromStr;

use serde_json::Value;

use crate::explore::reply::Refusal;

/// Names and values.
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn new(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The value of a name; an empty one counts as none.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, value)| found == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// A number, if it is given.
    pub(super) fn number<T: FromStr>(&self, name: &str) -> anyhow::Result<Option<T>> {
        let wrong = |text: &str| Refusal::bad(format!("invalid {name} `{text}`: expected a number"), "");
        Ok(self.get(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()?)
    }

    /// Numbers separated by commas, if they are given.
    pub(super) fn numbers(&self, name: &str) -> anyhow::Result<Option<Vec<usize>>> {
        let wrong =
            |text: &str| Refusal::bad(format!("invalid {name} `{text}`: expected numbers, for example 1,2"), "");
        let list =
            |text: &str| text.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>().map_err(|_| wrong(text));
        Ok(self.get(name).map(list).transpose()?)
    }
}

/// The body of a request as JSON.
pub(super) fn body(bytes: &[u8]) -> anyhow::Result<Value> {
    let wrong = |error| Refusal::bad(format!("cannot read the request as JSON: {error}"), "");
    Ok(serde_json::from_slice(bytes).map_err(wrong)?)
}

/// A whole number in a body.
pub(super) fn whole(body: &Value, name: &str) -> anyhow::Result<u64> {
    Ok(body[name].as_u64().ok_or_else(|| Refusal::bad(format!("the request has no number `{name}`"), ""))?)
}

/// Whole numbers in a body.
pub(super) fn wholes(body: &Value, name: &str) -> anyhow::Result<Vec<u64>> {
    let lacking = || Refusal::bad(format!("the request has no list of numbers `{name}`"), "");
    let list = body[name].as_array().ok_or_else(lacking)?;
    Ok(list.iter().map(Value::as_u64).collect::<Option<_>>().ok_or_else(lacking)?)
}

/// A text in a body.
pub(super) fn text<'a>(body: &'a Value, name: &str) -> anyhow::Result<&'a str> {
    Ok(body[name].as_str().ok_or_else(|| Refusal::bad(format!("the request has no string `{name}`"), ""))?)
}
