#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("words"), |bytes: &[u8]| readers::words(bytes));
