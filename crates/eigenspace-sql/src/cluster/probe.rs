//! Asks a scheduler whether it is there, which version it has, and whether it has executors.
//!
//! ```text
//! GET /readyz   ►   200: there are executors    503: there are none    server: ballista/55.0.0
//! ```

use std::time::Duration;

use ballista_core::BALLISTA_VERSION;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Address;
use crate::error::Error;

/// A scheduler answers within this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// No answer is longer than this.
const LONGEST: u64 = 1 << 16;

/// Whether the scheduler at this address has executors. The answer is an error if there is no
/// scheduler, or one of another version.
pub(super) async fn has_executors(address: &Address) -> Result<bool, Error> {
    let answer = match tokio::time::timeout(PATIENCE, exchange(address)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(unreachable(address, &error.to_string())),
        Err(_) => return Err(unreachable(address, &format!("no answer within {} seconds", PATIENCE.as_secs()))),
    };
    let mut lines = answer.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let servers = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
    let server = servers.filter(|(name, _)| name.eq_ignore_ascii_case("server")).map(|(_, value)| value.trim()).next();
    let Some(version) = server.and_then(|server| server.strip_prefix("ballista/")) else {
        let message = format!("what listens at {address} is not a scheduler");
        return Err(Error::new(message).hint("name the address that `eigenspace-sql scheduler` prints"));
    };
    check_version(address, version)?;
    Ok(status == "200")
}

async fn exchange(address: &Address) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((address.host(), address.port())).await?;
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(LONGEST).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn unreachable(address: &Address, reason: &str) -> Error {
    Error::new(format!("cannot reach a scheduler at {address}: {reason}")).hint(format!(
        "start one there with `eigenspace-sql scheduler --port {}`, or check the address",
        address.port()
    ))
}

/// Plans of different major versions can have different meanings.
fn check_version(address: &Address, version: &str) -> Result<(), Error> {
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(version) == major(BALLISTA_VERSION) {
        return Ok(());
    }
    let message = format!("the scheduler at {address} has Ballista {version}, this command has {BALLISTA_VERSION}");
    Err(Error::new(message).hint("use the same version of eigenspace-sql in all processes of a cluster"))
}
