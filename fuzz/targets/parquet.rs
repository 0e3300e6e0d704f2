#![no_main]

#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(init: readers::prepare("parquet"), |bytes: &[u8]| readers::parquet(bytes));
