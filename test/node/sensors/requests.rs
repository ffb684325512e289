//! From Config.json to the request on the wire: the vendor's recorded bytes.
use crate::support::golden;
use rfly_bridge::config::TransportMode;
use rfly_bridge::config::config_json::{self, TransportOverride, VendorOverrides};
use rfly_bridge::config::params::RequestFormat;
use rfly_bridge::node::sensor_request;
use rfly_bridge::wire::{CONSOLE_LONG_LEN, console_command};

#[test]
fn requests_are_the_vendors_bytes_for_every_configuration() {
    let mut seen = 0;
    for vector in golden::load("vision_req") {
        if vector.function() != "jsonLoad+sendReqToUE4" {
            continue; // updates of live sensors: test/wire
        }
        seen += 1;
        let args = &vector["args"];
        // A configured return address and "direct UDP" turn shared memory into UDP after loading.
        let direct = args["isUE4DirectUDP"].as_bool().unwrap_or(false);
        let transport = match (args["ChangeMode"].as_i64().unwrap(), direct) {
            (-1, _) => TransportOverride::Vendor,
            (0, true) => TransportOverride::Mode(TransportMode::UdpCompressed),
            (mode, _) => TransportOverride::Mode(TransportMode::from_repr(mode as u16).unwrap()),
        };
        let remote = args["RemotSendIP"].as_str().filter(|ip| !ip.is_empty());
        let receive_address = remote.map(|ip| ip.parse::<std::net::Ipv4Addr>().unwrap().octets());
        let overrides =
            VendorOverrides { transport, receive_address, ..VendorOverrides::default() };
        let text = args["config"].as_str().unwrap().to_owned();
        let loaded = config_json::load(&[("Config.json".to_owned(), text)], &overrides)
            .unwrap_or_else(|problems| panic!("{}: {problems}", vector.name()));

        let mut sent: Vec<Vec<u8>> = vector.sent().into_iter().map(|(_, bytes)| bytes).collect();
        let mut console = [0; CONSOLE_LONG_LEN];
        if sent[0] == console_command("RflyClearCapture", &mut console).unwrap() {
            sent.remove(0); // our parameter clear_capture_on_start
        }
        assert_eq!(loaded.sensors.len(), sent.len(), "{}", vector.name());
        for (sensor, expected) in loaded.sensors.iter().zip(&sent) {
            let mut buffer = [0; 148];
            let bytes = sensor_request(sensor, RequestFormat::Vendor).emit(&mut buffer);
            assert_eq!(bytes, expected.as_slice(), "{} sensor {}", vector.name(), sensor.seq_id);
        }
    }
    assert_eq!(seen, 33);
}

/// The layout of the vendor's recorded updates of the pod camera, with the check word of its newer documents.
#[test]
fn the_long_format_has_148_bytes_for_every_type() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("config/Config.json");
    let text = std::fs::read_to_string(path).unwrap();
    let files = [("Config.json".to_owned(), text)];
    let loaded = config_json::load(&files, &VendorOverrides::default()).unwrap();
    for sensor in &loaded.sensors {
        let (mut long, mut vendor) = ([0; 148], [0; 148]);
        let long = sensor_request(sensor, RequestFormat::Long).emit(&mut long);
        let vendor = sensor_request(sensor, RequestFormat::Vendor).emit(&mut vendor);
        assert_eq!(long.len(), 148);
        assert_eq!(long[..2], 12346_u16.to_le_bytes());
        assert_eq!(long[2..4], vendor[2..4], "number of the sensor");
        assert_eq!(long[4..8], [0; 4], "bit mask");
        // From the type to the position both layouts have the same fields, then the old one lacks the choice.
        assert_eq!(long[8..52], vendor[4..48]);
        let (angles, params) = match vendor.len() {
            92 => (48, 60),
            _ => (52, 80),
        };
        assert_eq!(long[56..68], vendor[angles..angles + 12]);
        assert_eq!(long[84..116], vendor[params..params + 32]);
    }
}
