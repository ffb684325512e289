//! The page for browsers, and recordings.
use super::declare::parameters;
use super::table::{NODE, RECORD};
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
    #[derive(Default)]
    pub struct RecordParams {
        [RECORD]
        directory: PathBuf = "record.directory", Str = ".", "Directory of the recordings.";
        ros: Option<String> = "record.ros", Str = "", live
            "Name of a bag (directory with MCAP, rosbag2) in record.directory that records every topic of the bridge, also those without a \
            subscriber; one that is there is not overwritten: the name gets a number. Empty: ends the recording (docs/record.md).";
        raw: Option<String> = "record.raw", Str = "", live
            "Name of an MCAP file in record.directory that records every datagram and shared-memory frame that the bridge receives, with its \
            parameters and the files they name. Empty: ends the recording.";
    }
}
