//! PNG and JPEG files of a renderer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rfly_bridge::sensors::{Decoder, Layout, Size};

fuzz_target!(|file: &[u8]| {
    let mut decoder = Decoder::allowing_larger(Size { width: 64, height: 48 });
    for layout in [Layout::Bgr8, Layout::Rgb8, Layout::Mono8] {
        if let Ok((size, pixels)) = decoder.decode(file, layout) {
            assert_eq!(pixels.len(), size.pixels() * layout.bytes());
        }
    }
    if let Ok((size, counts)) = decoder.decode_depth(file) {
        assert_eq!(counts.len(), size.pixels() * 2);
    }
});
