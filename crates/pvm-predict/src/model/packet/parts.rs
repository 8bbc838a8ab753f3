//! The parts into which a run is divided.

use crate::link::routes::Topology;
use crate::model::run::division::Division;
use crate::platform::{self, Platform, Route};
use crate::unit::Time;

/// The parts of a run: one where hosts share more than the links between them.
pub(super) fn division(platform: &Platform, hosts: u32) -> Division {
    let shares = platform.host.computers.is_some_and(|computers| computers < hosts)
        || platform.session.route != Route::Direct
        || platform.session.beat > Time::ZERO;
    match platform.network {
        platform::Network::Fabric(fabric) if !shares && fabric.topology != Topology::Bus => {
            Division::of(hosts, fabric.ahead())
        }
        _ => Division::whole(hosts),
    }
}
