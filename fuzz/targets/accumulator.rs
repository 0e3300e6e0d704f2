#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("accumulator"), |bytes: &[u8]| readers::accumulator(bytes));
