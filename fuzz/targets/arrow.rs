#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("arrow"), |bytes: &[u8]| readers::arrow(bytes));
