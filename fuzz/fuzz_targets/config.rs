//! The vendor's Config.json.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rfly_bridge::config::config_json::{VendorOverrides, inspect, load};

fuzz_target!(|text: &str| {
    let files = [("Config.json".to_owned(), text.to_owned())];
    let overrides = VendorOverrides::default();
    match load(&files, &overrides) {
        Ok(loaded) => assert_eq!(inspect(&files, &overrides).0, loaded),
        Err(problems) => assert!(!problems.to_string().is_empty(), "a refusal says why"),
    }
});
