//! The page for browsers, and recordings.
use super::table::{NODE, RECORD};
use super::{RecordCompression, RecordDepth, declare::parameters};
use std::path::PathBuf;

parameters! {
    /// `view.*`.
    pub struct ViewParams {
        [NODE]
        port: u16 = "view.port", Int(0, 65_535) = 0,
            "TCP port on loopback of a page for browsers, and of a server for Foxglove and Lichtblick (docs/view.md); 0: none.";
        control: bool = "view.control", Bool = false, "Clients of the page or the server may also call services and publish: arm, take off, fly to a position.";
        origins: Vec<String> = "view.origins", Names(256),
            "Other web sites that may read from view.port in a browser of this host, such as https://app.foxglove.dev.";
    }

    /// `record.*`.
    pub struct RecordParams {
        [RECORD]
        directory: PathBuf = "record.directory", Str = ".", "Directory of the recordings.";
        ros: Option<String> = "record.ros", Str = "", live
            "Path of a bag (directory with MCAP, rosbag2), as of `ros2 bag record -o`: absolute or in record.directory. It records the topics \
            of the bridge, also those without a subscriber. While the bridge runs, only a path in record.directory is accepted. An existing \
            one is not overwritten: the new name gets a number. Empty: ends the recording (docs/record.md).";
        raw: Option<String> = "record.raw", Str = "", live
            "Path of an MCAP file, as record.ros, that records every datagram and shared-memory frame that the bridge receives, with its \
            parameters and the files they name. Empty: ends the recording.";
        regex: String = "record.regex", Str = "", live
            "Regular expression, as `ros2 bag record --regex`: the next bag has only topics in whose full names it occurs. Empty: all.";
        exclude_regex: String = "record.exclude_regex", Str = "", live
            "Regular expression, as `ros2 bag record --exclude-regex`: the next bag has no topics in whose full names it occurs. Empty: no exception.";
        depth: RecordDepth = "record.depth", Choice = "32FC1", live
            "Depth images in the next bag. `32FC1`: in metres, not rounded; without depth.publish_float the main depth topic. `16UC1`: \
            the main depth topic (depth.encoding). `all`: every encoding that is published, with the files for image_transport.";
        compression: RecordCompression = "record.compression", Choice = "zstd", live
            "Compression of the chunks of the next recordings (MCAP).";
    }
}
