//! Requests to CopterSim, against everything the vendor's client sends.
use crate::support::golden::{self, numbers};
use rfly_bridge::wire::*;
use zerocopy::IntoBytes;

#[test]
fn every_recorded_request_is_made_from_its_arguments_byte_for_byte() {
    let mut seen = 0;
    for vector in golden::load("coptersim_send") {
        let name = vector.name();
        let args = &vector["args"]["positional"];
        let id = i32::try_from(args[0].as_i64().unwrap_or(-1)).unwrap();
        let request = CopterSimRequestPacket::new(id);
        let single = |i: usize| args[i].as_f64().unwrap();
        let expected = match vector.function() {
            // The vendor writes 0 for a vehicle on the same host.
            "sendReSimIP" if id == 1 => {
                owned(&CopterSimRequestPacket { reply_to_sender: 0, ..request })
            }
            "sendReSimIP" => owned(&request.to_sender()),
            "sendReSimUdpMode" => owned(&request.with_udp_mode(2)),
            "sendReSimXYyaw" => {
                let at = numbers(&args[1]);
                owned(&request.at([at[0], at[1]], at[2] as f32))
            }
            "sendReGPSOrin" => {
                let at = numbers(&args[1]);
                owned(&request.with_origin(at[0], at[1], at[2] as f32))
            }
            "sendReGPSPos" => owned(&request.at_geodetic(single(1), single(2), single(3) as f32)),
            "sendEnGpsMode" => owned(&CopterSimRequestPacket { place: 4, ..request }),
            "sendEnXyMode" => owned(&CopterSimRequestPacket { place: 5, ..request }),
            "sendReSimXyzRPYaw" => {
                let (at, angles) = (numbers(&args[1]), numbers(&args[2]));
                let [z, roll, pitch, yaw] =
                    [at[2], angles[0], angles[1], angles[2]].map(|x| x as f32);
                owned(&request.at([at[0], at[1]], yaw).standing([z, roll, pitch]))
            }
            "sendReCopterSim" => {
                let at = numbers(&args[4]);
                let zrp = numbers(&args[6]);
                let mut made = request
                    .at([at[0], at[1]], at[2] as f32)
                    .standing([zrp[0] as f32, zrp[1] as f32, zrp[2] as f32])
                    .with_udp_mode(3);
                made.params = [1, 2, 3, 4];
                owned(&made)
            }
            "sendReSimDllName" | "sendReSimMapName" => {
                let what = load_of(vector.function());
                let text = args[1].as_str().unwrap();
                owned(&CopterSimLoadPacket::by_name(id, what, text).unwrap())
            }
            "sendReSimDllIdx" | "sendReSimMapIdx" => {
                let what = load_of(vector.function());
                let index = i32::try_from(args[1].as_i64().unwrap()).unwrap();
                owned(&CopterSimLoadPacket::by_index(id, what, index))
            }
            // A name of 60 bytes: the vendor cuts it, here it is refused.
            "sendReDllMap" => {
                let text = args[3].as_str().unwrap();
                let whole = CopterSimLoadPacket::by_name(id, CopterSimLoad::Model, text);
                assert_eq!(whole, None);
                let cut = CopterSimLoadPacket::by_name(id, CopterSimLoad::Model, &text[..48]);
                owned(&cut.unwrap())
            }
            "sendStartMsg" => owned(&StartSignalPacket::new(Some(id))),
            "sendRebootPix" => {
                let delay = args[1].as_i64().unwrap_or(-1);
                owned(&RebootPacket::new(i32::try_from(delay).unwrap()))
            }
            "getSimIpID" => owned(&ProbePacket::new(ProbePacket::NEARBY)),
            // Sensors are in `requests`; the rest has no codec.
            "sendImuReqClient"
            | "sendReqToCopterSim"
            | "sendCustomData"
            | "sendPX4UorbRflyCtrl"
            | "sendSILIntFloat" => continue,
            other => panic!("{name}: unknown function {other}"),
        };
        for (_, bytes) in vector.sent() {
            assert_eq!(golden::hex(&expected), golden::hex(&bytes), "{name}");
            read(name, &bytes);
        }
        seen += 1;
    }
    assert_eq!(seen, 35);
}

fn owned(packet: &impl Packet) -> Vec<u8> {
    packet.as_bytes().to_vec()
}

fn load_of(function: &str) -> CopterSimLoad {
    if function.contains("Dll") { CopterSimLoad::Model } else { CopterSimLoad::Map }
}

fn read(name: &str, bytes: &[u8]) {
    let read = match bytes.len() {
        8 if name.starts_with("reboot") => RebootPacket::parse(bytes).map(owned),
        8 => ProbePacket::parse(bytes).map(owned),
        12 => StartSignalPacket::parse(bytes).map(owned),
        48 => CopterSimRequestPacket::parse(bytes).map(owned),
        64 => CopterSimLoadPacket::parse(bytes).map(owned),
        len => panic!("{name}: {len} bytes"),
    };
    assert_eq!(read.as_deref(), Ok(bytes), "{name}");
}

#[test]
fn a_probe_is_no_reboot_and_the_other_way_round() {
    assert!(RebootPacket::parse(ProbePacket::new(ProbePacket::ELSEWHERE).as_bytes()).is_err());
    assert!(ProbePacket::parse(RebootPacket::new(RebootPacket::AT_ONCE).as_bytes()).is_err());
}
