//! Height maps, against what the vendor's SDK reads from the same files.
use crate::support::golden::{self, numbers};
use rfly_bridge::scene::{Rounding, TerrainMap};

fn maps() -> impl Iterator<Item = (golden::Vector, TerrainMap)> {
    golden::load("terrain").into_iter().map(|vector| {
        let args = &vector["args"];
        let png = golden::unhex(args["png_hex"].as_str().unwrap());
        let map = TerrainMap::parse(&png, args["txt"].as_str().unwrap(), Rounding::Cut).unwrap();
        (vector, map)
    })
}

#[test]
fn every_pixel_has_the_height_that_the_vendor_reads() {
    for (vector, map) in maps() {
        let (name, decoded) = (vector.name(), &vector["decoded"]);
        let size = [&decoded["rows"], &decoded["columns"]].map(|n| n.as_u64().unwrap() as usize);
        assert_eq!(map.size(), size, "{name}");
        let rows = decoded["heights_m_down"].as_array().unwrap();
        let wanted: Vec<f32> = rows.iter().flat_map(numbers).map(|h| h as f32).collect();
        assert_eq!(map.heights(), wanted, "{name}");
        let gps = decoded["GPS"].as_array().map(|_| numbers(&decoded["GPS"]));
        assert_eq!(map.geodetic().map(Vec::from), gps, "{name}");
    }
}

#[test]
fn a_height_between_the_pixels_is_that_of_the_vendor() {
    for (vector, map) in maps() {
        for query in vector["decoded"]["queries"].as_array().unwrap() {
            let [x, y, wanted] = numbers(query)[..] else { panic!("three numbers") };
            let found = map.height([x, y]);
            assert!(
                (found - wanted).abs() < 1e-9,
                "{} at {x}, {y}: {found}, not {wanted}",
                vector.name()
            );
        }
    }
}

#[test]
fn a_place_beyond_the_map_or_no_place_has_the_height_of_an_edge() {
    for (_, map) in maps() {
        let heights = map.heights();
        assert_eq!(map.height([1e300, f64::INFINITY]), f64::from(heights[heights.len() - 1]));
        assert_eq!(map.height([f64::NAN, f64::NEG_INFINITY]), f64::from(heights[0]));
    }
}

#[test]
fn a_wrong_map_says_what_is_wrong() {
    let vector = golden::load_one("terrain", "small_9");
    let png = golden::unhex(vector["args"]["png_hex"].as_str().unwrap());
    for (text, wanted) in [
        ("1000,1000,500,-1000,-1000,100,0,0", "has 8 numbers, expected 9"),
        ("1000,1000,500,-1000,-1000,100,0,0,300,1", "has 10 numbers"),
        ("1000,1000,500,-1000,-1000,100,0,zero,300", "value 8 of the map's text is \"zero\""),
        ("1000,1000,500,-1000,1000,100,0,0,300", "same y of 1000 cm"),
        (
            "1000,1000,500,-1000,-1000,100,0,9000,300",
            "the third corner of the map, x 0 cm, y 9000 cm",
        ),
        ("", "value 1 of the map's text is \"\""),
    ] {
        let error = TerrainMap::parse(&png, text, Rounding::Cut).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    let text = vector["args"]["txt"].as_str().unwrap();
    let error = TerrainMap::parse(&png[..40], text, Rounding::Cut).unwrap_err().to_string();
    assert!(error.contains("no PNG image"), "{error}");
}
