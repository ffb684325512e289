//! Shared memory of a renderer that keeps no promise: any bytes, any flag, changed and cut off while they are read.
#![no_main]

#[path = "../support/sensors.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use rfly_bridge::config::TransportMode;
use rfly_bridge::node::{BlockReader, Taken};
use rfly_bridge::sensors::{SensorError, SensorSpec, specs};
use rfly_bridge::time::RosTime;
use rfly_bridge::transport::SharedBlock;
use rfly_bridge::wire::{ShmFlag, shm_block_len};
use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use support::{HEIGHT, Rig, SECOND, WIDTH, open};

/// A sensor and its block.
struct Source {
    open: Rig,
    reader: BlockReader,
    zeros: Vec<u8>,
    file: File,
    block: SharedBlock,
}

thread_local! {
    static SOURCES: RefCell<Vec<Source>> = RefCell::new(specs().map(source).collect());
}

fn source(spec: &SensorSpec) -> Source {
    let len =
        shm_block_len(spec.kind.type_id(), WIDTH, HEIGHT, SECOND as u32).expect("all have blocks");
    let (file, block) = block(len);
    Source {
        open: open(spec, TransportMode::SharedMemory),
        reader: BlockReader::default(),
        zeros: vec![0; len],
        file,
        block,
    }
}

/// A block without a name, so that nothing is left of it.
fn block(len: usize) -> (File, SharedBlock) {
    let name = format!("rfly_bridge_fuzz_{}", std::process::id());
    let path = format!("/dev/shm/{name}");
    let block = SharedBlock::create(&name, len).expect("room in /dev/shm");
    let file = OpenOptions::new().write(true).open(&path).expect("its file");
    std::fs::remove_file(&path).expect("its name");
    (file, block)
}

fuzz_target!(|data: &[u8]| {
    let [kind, mischief, at, bytes @ ..] = data else {
        return;
    };
    SOURCES.with_borrow_mut(|sources| {
        let source = &mut sources[usize::from(*kind) % specs().count()];
        let block = &source.block;
        block.copy_in(0, &source.zeros);
        block.copy_in(0, bytes);
        let ready = block.flag() == ShmFlag::Ready as u8;
        let mut cut = false;
        let taken = source.reader.take(block, &mut *source.open.sensor, RosTime(0), |_| {
            match mischief % 8 {
                0 => block.set_flag(*at),
                1 => {
                    block.copy_in(usize::from(*at), bytes);
                }
                2 => {
                    cut = true;
                    let len = source.zeros.len() * usize::from(*at) / 256;
                    source.file.set_len(len as u64).expect("shorter");
                }
                _ => {}
            }
            Some(RosTime(0))
        });
        assert_eq!(taken.is_some(), ready);
        match taken {
            Some(Taken::Unwanted) => panic!("every topic has a reader"),
            Some(Taken::Published) => assert_eq!(block.flag(), ShmFlag::Released as u8),
            // A mapping's last page stays readable, so that not every cut is noticed.
            Some(Taken::Dropped(error)) => {
                assert!(!matches!(error, SensorError::Torn) || cut || mischief % 8 < 2);
            }
            None => {}
        }
        if block.is_lost() {
            (source.file, source.block) = self::block(source.zeros.len());
        } else if cut {
            let len = source.zeros.len() as u64;
            source.file.set_len(len).expect("room in /dev/shm");
        }
    });
});
