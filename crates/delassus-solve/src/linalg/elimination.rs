//! The order in which sparse symmetric matrices are eliminated.
//!
//! ```text
//! row i eliminated   ⇒   all rows that it is joined with are joined with each other
//! ```

/// The order of elimination by least degree, ties by number, and for each row the rows that it is joined with
/// when its turn comes, with the number of products; `None` where there are more than `work_max`. `near`
/// has the other rows that each row is joined with.
pub fn least_degree(
    mut near: Vec<Vec<usize>>,
    work_max: usize,
) -> Option<(Vec<usize>, Vec<Vec<usize>>, usize)> {
    let n = near.len();
    // Rows by degree: a list per degree, from which entries that are out of date are dropped when met.
    let mut by_degree: Vec<Vec<usize>> = vec![Vec::new(); n.max(1)];
    for i in (0..n).rev() {
        by_degree[near[i].len()].push(i);
    }
    let mut done = vec![false; n];
    let mut mark = vec![usize::MAX; n];
    let mut order = Vec::with_capacity(n);
    let mut rows = Vec::with_capacity(n);
    let (mut least, mut work) = (0, 0);
    while order.len() < n {
        let Some(i) = by_degree[least].pop() else {
            least += 1;
            continue;
        };
        if done[i] || near[i].len() != least {
            continue;
        }
        done[i] = true;
        let clique = std::mem::take(&mut near[i]);
        work += clique.len() * (clique.len() + 2);
        if work > work_max {
            return None;
        }
        for &j in &clique {
            let list = &mut near[j];
            list.retain(|&k| k != i);
            mark[j] = j;
            for &k in list.iter() {
                mark[k] = j;
            }
            for &k in &clique {
                if mark[k] != j {
                    list.push(k);
                }
            }
            let degree = list.len();
            by_degree[degree].push(j);
            least = least.min(degree);
        }
        order.push(i);
        rows.push(clique);
    }
    Some((order, rows, work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_no_fill_in_and_a_star_ends_with_its_centre() {
        let n = 9;
        let chain = (0..n).map(|i| [i + n - 1, i + 1].map(|j| j % n)).collect::<Vec<_>>();
        let chain = (0..n).map(|i| chain[i].into_iter().filter(|j| j.abs_diff(i) == 1).collect()).collect();
        let (_, rows, _) = least_degree(chain, usize::MAX).unwrap();
        assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), n - 1);
        let star: Vec<Vec<usize>> = (0..n).map(|i| if i == 0 { (1..n).collect() } else { vec![0] }).collect();
        let (order, rows, work) = least_degree(star.clone(), usize::MAX).unwrap();
        assert!(order[n - 2..].contains(&0) && rows.iter().all(|row| row.len() <= 1));
        assert!(least_degree(star, work - 1).is_none());
    }
}
