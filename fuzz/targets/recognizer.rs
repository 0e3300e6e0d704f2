#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("recognizer"), |bytes: &[u8]| readers::recognizer(bytes));
