//! The address of a scheduler: `HOST:PORT`, or `HOST` for the default port; `df://` or `http://` may
//! stand before it.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The address of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    host: String,
    port: u16,
}

impl Address {
    /// The port of a scheduler unless another one is chosen.
    pub const DEFAULT_PORT: u16 = 50050;

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self) -> String {
        format!("http://{self}")
    }

    /// The host as it is written in front of a port.
    pub(super) fn bracketed(host: &str) -> String {
        if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Self::bracketed(&self.host), self.port)
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || {
            let message = format!("invalid address of a scheduler `{text}`: expected HOST:PORT or http://HOST:PORT");
            Error::new(message).hint("the command `eigenspace-sql scheduler` prints its address")
        };
        let place = ["df://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(invalid)?)),
            None => place.split_once(':').map_or((place, None), |(host, port)| (host, Some(port))),
        };
        let named = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ':');
        if host.is_empty() || !host.chars().all(named) || (host.contains(':') && !place.starts_with('[')) {
            return Err(invalid());
        }
        let port = port.map_or(Ok(Self::DEFAULT_PORT), |port| port.parse().map_err(|_| invalid()))?;
        if port == 0 { Err(invalid()) } else { Ok(Self { host: host.to_owned(), port }) }
    }
}
