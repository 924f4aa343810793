//! The boards' lines as directions, against the boards as they are drawn.

use turnstone_env::games::built_in;
use turnstone_env::{Params, Spec};

fn spec(name: &str) -> Spec {
    built_in().make(name, &Params::new()).expect("the defaults are valid").spec().clone()
}

/// The points from `point` on in each direction, those first that start in a smaller neighbour.
fn rays(spec: &Spec, point: u16) -> Vec<Vec<u16>> {
    let ray = |next: &Vec<Option<u16>>| -> Vec<u16> {
        let points = std::iter::successors(next[usize::from(point)], |&p| next[usize::from(p)]);
        points.take_while(|&p| p != point).collect()
    };
    let mut rays: Vec<Vec<u16>> = spec.directions.iter().map(ray).filter(|ray| !ray.is_empty()).collect();
    rays.sort();
    rays
}

#[test]
fn lines_end_where_the_boards_do() {
    assert_eq!(
        rays(&spec("konane"), 9),
        [vec![1], vec![8], vec![10, 11, 12, 13, 14, 15], vec![17, 25, 33, 41, 49, 57]]
    );
    let morris = spec("morris");
    assert_eq!(morris.directions.len(), 8);
    assert_eq!(rays(&morris, 0), [vec![1], vec![2, 4], vec![15]]); // a0
    assert_eq!(rays(&morris, 13), [vec![10], vec![12], vec![14], vec![16]]); // d5
    let morabaraba = spec("morabaraba");
    assert_eq!(morabaraba.directions.len(), 8);
    assert_eq!(rays(&morabaraba, 0), [vec![1, 2], vec![3, 6], vec![9, 21]]); // a1
    assert_eq!(rays(&morabaraba, 7), [vec![4, 1], vec![6], vec![8]]); // c4
    // Round the ring, and through the hub to the other side.
    let mu_torere = spec("mu_torere");
    assert_eq!(rays(&mu_torere, 0), [vec![1, 2, 5, 8, 7, 6, 3], vec![3, 6, 7, 8, 5, 2, 1], vec![4, 8]]);
    assert_eq!(rays(&mu_torere, 4).concat(), [0, 1, 2, 3, 5, 6, 7, 8]);
    assert_eq!(rays(&spec("mancala"), 4)[1], [5, 11, 10, 9, 8, 7, 6, 0, 1, 2, 3]);
}
