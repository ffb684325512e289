//! Tasks that panic or end.
use rfly_bridge::node::{Endless, keep_running};
use tokio::sync::mpsc::{Sender, channel};

struct Task {
    runs: u32,
    failures: u32,
    told: Sender<(u32, u32)>,
}

impl Endless for Task {
    fn name(&self) -> String {
        "a test".to_owned()
    }

    fn failed(&mut self) {
        self.failures += 1;
    }

    async fn work(&mut self) {
        self.runs += 1;
        tokio::task::yield_now().await;
        self.told.send((self.runs, self.failures)).await.unwrap();
        match self.runs {
            1 => panic!("at the first time, in a test"),
            2 => {} // it ends, as if its socket were gone
            _ => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn a_task_that_panics_or_ends_is_counted_and_goes_on_with_its_state() {
    let (told, mut hears) = channel(3);
    let task = Task { runs: 0, failures: 0, told };
    let running = tokio::spawn(keep_running(task));
    let mut heard = Vec::new();
    while heard.len() < 3 {
        heard.push(hears.recv().await.expect("the task lives"));
    }
    assert_eq!(heard, [(1, 0), (2, 1), (3, 2)]);
    running.abort();
}
