//! Datagrams and records of the simulator as typed values, one file per family: no I/O, no clock, no panic.
//!
//! Every fixed layout is a `repr(C)` struct of little-endian fields with alignment 1 ([`zerocopy`]), declared by `packets!`, so
//! that its definition is its specification and parsing is a checked view. [`Packet::parse`] verifies length and check word;
//! all other fields are plain numbers in the simulator's frame (NED world, FRD body). [`IntoBytes::as_bytes`] of a value made by
//! the struct's `new` returns the bytes to send. "Source: golden" names recordings of the vendor's SDK in test/fixtures/golden.
//!
//! ```
//! use rfly_bridge::wire::{ImuPacket, IntoBytes, Packet};
//! let sent = ImuPacket::new(7, 12.345, [0.1, 0.2, -9.8], [0.0; 3]);
//! let received = ImuPacket::parse(sent.as_bytes()).unwrap();
//! assert_eq!(received.seq.get(), 7);
//! assert!(ImuPacket::parse(&[0; 39]).is_err());
//! ```
#[macro_use]
mod packet;

mod cloud;
mod console;
mod control_full;
mod control_simple;
mod coptersim_request;
mod error;
mod handshake;
mod heartbeat;
mod image_fragment;
mod imu;
pub mod mavlink;
mod model_command;
mod model_input;
mod netsim;
mod objects;
mod packetiser;
mod ports;
mod px4_ext;
mod range;
mod scene_display;
mod scene_motion;
mod scene_report;
mod scene_state;
mod scene_text;
mod sensor_request;
mod sensor_type;
mod shm_block;
mod shm_directory;
mod true_state;
mod vehicle_state;

pub use cloud::{
    Channel, CloudHead, CloudHeader, CloudPoints, CloudShape, CloudView, OdometryCloudHeader,
    PointForm, append_cloud,
};
pub use console::{
    CONSOLE_LONG_LEN, CONSOLE_NETWORK_LEN, CONSOLE_SHORT_LEN, ConsoleArguments, console_command,
    console_command_for_network, parse_console_command, split_console_command,
};
pub use control_full::{FullEstimatePacket, FullSetpointPacket};
pub use control_simple::{SimpleCommand, SimpleCommandPacket, SimpleEstimatePacket, SimpleReport};
pub use coptersim_request::{
    CopterSimLoad, CopterSimLoadPacket, CopterSimRequestPacket, ProbePacket, RebootPacket,
    StartSignalPacket,
};
pub use error::WireError;
pub use handshake::HandshakePacket;
pub use heartbeat::HeartbeatPacket;
pub use image_fragment::{
    FragmentHeader, FragmentHeaderA, FragmentHeaderB, HeaderVariant, MAX_FRAGMENT_PAYLOAD,
};
pub use imu::{ImuPacket, ImuRequestPacket};
pub use model_command::ModelCommand;
pub use model_input::{
    CustomDataPacket, DoubleInputsPacket, DynamicParametersPacket, InputSet, ModelInput,
    ModelParameters, ModelParametersPacket, RayInputsPacket, RendererInputsPacket, SilInputsPacket,
    Surroundings, SurroundingsPacket, UorbInputsPacket,
};
pub use netsim::{NetSimHeader, NetSimMessage, NetSimState};
pub use objects::{BoxEntry, ListView, TargetEntry, append_list};
pub use packet::{Packet, PacketField};
pub use packetiser::{Fragment, FragmentHeaderBytes, Fragments, fragments};
pub use ports::{HOST_GROUP, NETWORK_GROUP, Ports};
pub use px4_ext::Px4ExtPacket;
pub use range::RangeRecord;
pub use scene_display::{AttachPacket, Attachment, ExtActuatorsPacket, LabelPacket, LabelRow};
pub use scene_motion::{Moving10Packet, Moving20Packet, Moving100Packet, MovingState};
pub use scene_report::{
    CameraDescription, CameraReportPacket, DescribedPose, EntityDescription, EntityName,
    ObjectBoundsPacket, SceneReport, VehicleBoundsPacket, VehicleReportPacket,
};
pub use scene_state::{
    Height, MotorStatePacket, ObjectStatePacket, PointMassStatePacket, ScaledStatePacket,
    Swarm20Packet, Swarm100Packet, SwarmState, class_and_style,
};
pub use scene_text::scene_text;
pub use sensor_request::{
    DEFAULT_RATE_HZ, RequestLayout, SendProtocol, SensorRequest, check_freq_hz,
};
pub use sensor_type::{
    FISHEYE_FACTOR, MID360_POINTS, Modes, Optics, Payload, SensorKind, SensorType,
};
pub use shm_block::{
    SHM_HEADER_LEN, ShmFlag, ShmHeader, points_of, shm_block_len, shm_block_lens, shm_name,
};
pub use shm_directory::{SENSORS_PER_GROUP, SensorSize, ShmDirectory};
pub use true_state::{TrueState, TruthDatagram};
pub use vehicle_state::{
    CrashPacket, FullStatePacket, MapCentrePacket, ModelOutputPacket, ShortStatePacket, StateInner,
    TimedStatePacket,
};

pub use zerocopy::IntoBytes;
