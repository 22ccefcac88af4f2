//! Connected components of a graph whose edges come one by one.
//!
//! ```text
//! i ~ j   ⇔   a path of joined pairs leads from i to j ,      root(i) = min { j : j ~ i }
//! ```
//!
//! n nodes; the smallest node of a component is its root, so that the outcome does not depend on the order of
//! the edges. Paths are halved as they are walked.

/// Disjoint sets of the nodes 0 … n−1.
#[derive(Clone, Debug, Default)]
pub struct UnionFind {
    /// A smaller node of the same component, or the node itself at the root.
    parent: Vec<u32>,
}

impl UnionFind {
    /// n nodes, each by itself.
    pub fn new(n: usize) -> Self {
        let mut sets = UnionFind::default();
        sets.reset(n);
        sets
    }

    /// Starts again with n nodes, each by itself; allocates only where there are more than ever before.
    pub fn reset(&mut self, n: usize) {
        self.parent.clear();
        self.parent.extend((0..n).map(|i| i as u32));
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// The smallest node of the component of node i.
    pub fn root(&mut self, i: usize) -> usize {
        let (parent, mut i) = (&mut self.parent, i as u32);
        while parent[i as usize] != i {
            parent[i as usize] = parent[parent[i as usize] as usize];
            i = parent[i as usize];
        }
        i as usize
    }

    /// Joins the components of i and j; false where they were one already, so that the edge closes a loop.
    pub fn join(&mut self, i: usize, j: usize) -> bool {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b)] = a.min(b) as u32;
        a != b
    }

    /// The nodes of each component, ascending; components in the order of their smallest node.
    pub fn components(&mut self) -> Vec<Vec<usize>> {
        let mut place = vec![usize::MAX; self.len()];
        let mut components: Vec<Vec<usize>> = vec![];
        for i in 0..self.len() {
            let root = self.root(i);
            if place[root] == usize::MAX {
                place[root] = components.len();
                components.push(vec![]);
            }
            components[place[root]].push(i);
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_do_not_depend_on_the_order_of_the_edges() {
        let edges = [(4, 2), (5, 0), (2, 5), (1, 3)];
        for turn in 0..edges.len() {
            let mut sets = UnionFind::new(7);
            for k in 0..edges.len() {
                let (i, j) = edges[(k + turn) % edges.len()];
                assert!(sets.join(i, j));
            }
            assert!(!sets.join(4, 0), "the edge closes a loop");
            assert_eq!(sets.components(), vec![vec![0, 2, 4, 5], vec![1, 3], vec![6]]);
            assert_eq!((sets.root(5), sets.root(3), sets.root(6)), (0, 1, 6));
        }
    }

    #[test]
    fn a_reset_forgets_all_edges() {
        let mut sets = UnionFind::new(3);
        sets.join(0, 2);
        sets.reset(2);
        assert_eq!(sets.components(), vec![vec![0], vec![1]]);
        sets.reset(0);
        assert!(sets.is_empty() && sets.components().is_empty());
    }
}
