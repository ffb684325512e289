//! Bridges of other PCs that fall silent and return, on virtual time.
use rfly_bridge::session::{PeerNews, PeerWatch};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(3);

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A watch that begins at 100 s.
fn watch() -> PeerWatch {
    PeerWatch::new(["a", "b"].map(str::to_owned), LIMIT, seconds(100))
}

fn lost(watch: &mut PeerWatch, at: u64) -> (Vec<String>, Vec<PeerNews>) {
    let (states, news) = watch.check(seconds(at));
    (states.into_iter().filter(|state| state.is_lost).map(|state| state.name).collect(), news)
}

#[test]
fn a_peer_that_is_heard_is_not_lost() {
    let mut watch = watch();
    for at in 101..200 {
        watch.hear("a", seconds(at));
        watch.hear("b", seconds(at - 1));
        assert_eq!(lost(&mut watch, at), (vec![], vec![]), "{at}");
    }
}

#[test]
fn silence_is_news_once_and_so_is_the_return() {
    let mut watch = watch();
    watch.hear("a", seconds(101));
    watch.hear("b", seconds(101));
    watch.hear("b", seconds(104));
    assert_eq!(lost(&mut watch, 104), (vec![], vec![]));
    let a = || "a".to_owned();
    assert_eq!(lost(&mut watch, 105), (vec![a()], vec![PeerNews::Lost(a())]));
    assert_eq!(lost(&mut watch, 106), (vec![a()], vec![]));
    assert_eq!(watch.check(seconds(106)).0[0].silence, seconds(5));
    watch.hear("a", seconds(107));
    assert_eq!(lost(&mut watch, 107), (vec![], vec![PeerNews::Returned(a())]));
    assert_eq!(lost(&mut watch, 107), (vec![], vec![]));
}

#[test]
fn a_peer_that_was_never_heard_is_lost_after_the_limit_too() {
    let mut watch = watch();
    watch.hear("a", seconds(102));
    assert_eq!(lost(&mut watch, 103), (vec![], vec![]));
    let b = || "b".to_owned();
    assert_eq!(lost(&mut watch, 104), (vec![b()], vec![PeerNews::Lost(b())]));
    let (states, _) = watch.check(seconds(104));
    assert_eq!([states[0].was_heard, states[1].was_heard], [true, false]);
}

#[test]
fn a_stranger_is_ignored() {
    let mut watch = watch();
    watch.hear("c", seconds(101));
    assert_eq!(watch.check(seconds(101)).0.len(), 2);
}
