#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("csv"), |bytes: &[u8]| readers::csv(bytes));
