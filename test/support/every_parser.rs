//! Runs every wire parser over the same bytes; used by the property tests and by `fuzz/`.
use rfly_bridge::wire::*;
use zerocopy::IntoBytes;

/// Panics if a parser panics, or if an accepted packet is written differently from how it was read.
pub fn parse_all(bytes: &[u8]) {
    let _ = FragmentHeader::parse(bytes, bytes.len());
    let _ = HeartbeatPacket::parse(bytes);
    let _ = HandshakePacket::parse(bytes);
    let _ = ImuPacket::parse(bytes);
    let _ = ImuRequestPacket::parse(bytes);
    let _ = TruthDatagram::parse(bytes);
    let _ = SimpleCommandPacket::parse(bytes).map(SimpleCommand::try_from);
    let _ = SimpleEstimatePacket::parse(bytes).map(|packet| packet.report() == packet.report());
    let _ = FullSetpointPacket::parse(bytes);
    let _ = FullEstimatePacket::parse(bytes);
    let _ = Px4ExtPacket::parse(bytes);
    let _ = CopterSimRequestPacket::parse(bytes);
    let _ = CopterSimLoadPacket::parse(bytes);
    let _ = StartSignalPacket::parse(bytes);
    let _ = ProbePacket::parse(bytes);
    let _ = RebootPacket::parse(bytes);
    let _ = SceneReport::parse(bytes);
    let _ = ModelInput::parse(bytes);
    let _ = CustomDataPacket::parse(bytes);
    let _ = NetSimMessage::parse(bytes).map(|message| match message {
        NetSimMessage::Request(header)
        | NetSimMessage::State(header, _)
        | NetSimMessage::Data(header, _) => header.names(i32::MAX) || header.names(i32::MIN),
    });
    let _ = ObjectStatePacket::parse(bytes).map(ObjectStatePacket::height);
    let _ = ScaledStatePacket::parse(bytes);
    let _ = MotorStatePacket::parse(bytes);
    let _ = PointMassStatePacket::parse(bytes);
    let _ = Swarm20Packet::parse(bytes).map(|packet| packet.states().count());
    let _ = Swarm100Packet::parse(bytes).map(|packet| packet.states().count());
    let _ = Moving10Packet::parse(bytes).map(|packet| packet.states().count());
    let _ = Moving20Packet::parse(bytes).map(|packet| packet.states().count());
    let _ = Moving100Packet::parse(bytes).map(|packet| packet.states().count());
    let _ = LabelPacket::parse(bytes);
    let _ = AttachPacket::parse(bytes);
    let _ = ExtActuatorsPacket::parse(bytes);
    let _ = ShmHeader::parse_prefix(bytes);
    let _ = ShmDirectory::parse(bytes).map(|d| (d.accepted(u16::MAX, 1, 1), d.accepted(0, 1, 1)));
    let _ = RangeRecord::parse_prefix(bytes);
    for oldest in [PointForm::I16x3, PointForm::I16x4] {
        let blocks = [0, 1, 7, 17_408].map(|most| CloudView::parse_block(bytes, most, oldest));
        let clouds = [CloudView::parse(bytes, oldest)].into_iter().chain(blocks);
        for cloud in clouds.flatten() {
            check_prefix(bytes, |out| write_cloud(&cloud, out));
        }
        assert!(!CloudShape::of(bytes).to_string().is_empty());
    }
    if let Ok(list) = ListView::<BoxEntry>::parse(bytes) {
        check_prefix(bytes, |out| append_list(list.entries(), out));
    }
    if let Ok(list) = ListView::<TargetEntry>::parse(bytes) {
        check_prefix(bytes, |out| append_list(list.entries(), out));
    }
    if let Ok(text) = parse_console_command(bytes) {
        let (_, args) = split_console_command(text);
        assert!(args.count() <= text.len());
    }
    if let Ok(request) = SensorRequest::parse(bytes) {
        assert_eq!(request.emit(&mut [0; 148]), bytes);
    }
    if let Ok(state) = TrueState::parse(bytes) {
        // The state is kept, but not padding and reserved bytes.
        let again = match bytes.len() {
            200 => TrueState::parse(ShortStatePacket::from(&state).as_bytes()),
            168 => TrueState::parse(FullStatePacket::from(&state).as_bytes()),
            _ => TrueState::parse(TimedStatePacket::from(&state).as_bytes()),
        };
        let again = again.expect("an own packet is read");
        assert_eq!((again.copter_id, again.vehicle_type), (state.copter_id, state.vehicle_type));
    }
}

fn write_cloud(cloud: &CloudView<'_>, out: &mut Vec<u8>) {
    let head = cloud.head;
    match cloud.points {
        CloudPoints::I16x3(points) => {
            append_cloud(head, points.iter().map(|p| p.map(|c| c.get())), out)
        }
        CloudPoints::I16x4(points) => {
            append_cloud(head, points.iter().map(|p| p.map(|c| c.get())), out)
        }
        CloudPoints::F32x3(points) => {
            append_cloud(head, points.iter().map(|p| p.map(|c| c.get())), out)
        }
        CloudPoints::F32x4(points) => {
            append_cloud(head, points.iter().map(|p| p.map(|c| c.get())), out)
        }
    }
}

/// Checks that `bytes` begin with what is written. A copy may quieten a signalling NaN (one byte) in the 6 numbers of a pose.
fn check_prefix(bytes: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
    let mut written = Vec::new();
    write(&mut written);
    let same = written.iter().zip(bytes).filter(|(a, b)| a == b).count();
    assert!(written.len() <= bytes.len() && written.len() - same <= 6, "{written:?} {bytes:?}");
}
