//! PageRank as a timely dataflow: one operator whose output comes back to it over an exchange, once an iteration.
//!
//! Vertex v belongs to worker v % workers. A worker sums what its vertices give to each destination before it sends
//! (destination, sum), so that a worker sends at most one record a destination ("worker" aggregation). Dangling mass
//! is spread evenly.
//!
//! Usage: timely-pagerank GRAPH.ew --threads N --iterations N --ranks FILE [--hosts FILE --process I]
//! Threads of a process and processes are powers of two. --ranks FILE gets the ranks as f32 (0 where another process
//! has them); --hosts FILE has a line address:port for each process. stdout: one line of JSON.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::{ConnectLoop, Feedback, Operator};

const DAMPING: f64 = 0.85;

struct Graph {
    offsets: Vec<u64>,
    targets: Vec<u32>,
}

impl Graph {
    /// Reads offsets and targets of an .ew file (src/graph/file/format.h).
    fn read(path: &str) -> std::io::Result<Graph> {
        let mut file = File::open(path)?;
        let mut header = [0; 64];
        file.read_exact(&mut header)?;
        if &header[..8] != b"EDGEWIRE" {
            return Err(std::io::Error::other("not an .ew file"));
        }
        let word = |i: usize| u64::from_le_bytes(header[i..i + 8].try_into().unwrap());
        let mut section = |entry: usize| {
            let mut bytes = vec![0; word(entry + 8) as usize];
            file.seek(SeekFrom::Start(word(entry)))?;
            file.read_exact(&mut bytes).map(|()| bytes)
        };
        let offsets = section(32)?.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
        let targets = section(48)?.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
        Ok(Graph { offsets, targets })
    }

    fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    fn degree(&self, vertex: usize) -> u64 {
        self.offsets[vertex + 1] - self.offsets[vertex]
    }
}

/// What one worker knows: its vertices' ranks and the edges that leave them, by destination.
struct Part {
    vertices: usize,
    shift: u32,
    degrees: Vec<u32>,
    ranks: Vec<f32>,
    shares: Vec<f32>,
    /// Sums that arrive for even and odd iterations: a fast worker may send the next ones before this one is done.
    sums: [Vec<f32>; 2],
    dangling: [f64; 2],
    /// The sources of destination d, as indexes of this worker, are sources[ends[d - 1]..ends[d]].
    ends: Vec<u64>,
    sources: Vec<u32>,
}

impl Part {
    fn new(graph: &Graph, index: usize, workers: usize) -> Part {
        let vertices = graph.vertices();
        let own = || (index..vertices).step_by(workers);
        let row = |v: usize| &graph.targets[graph.offsets[v] as usize..graph.offsets[v + 1] as usize];
        let mut places = vec![0; vertices + 1];
        own().flat_map(row).for_each(|&d| places[d as usize + 1] += 1);
        for d in 0..vertices {
            places[d + 1] += places[d];
        }
        let mut sources = vec![0; places[vertices] as usize];
        for (local, v) in own().enumerate() {
            for &d in row(v) {
                sources[places[d as usize] as usize] = local as u32;
                places[d as usize] += 1;
            }
        }
        let count = own().count();
        Part {
            vertices,
            shift: workers.trailing_zeros(),
            degrees: own().map(|v| graph.degree(v) as u32).collect(),
            ranks: vec![1.0 / vertices as f32; count],
            shares: vec![0.0; count],
            sums: [vec![0.0; count], vec![0.0; count]],
            dangling: [0.0; 2],
            ends: places,
            sources,
        }
    }

    /// What arrives from a worker: a sum for a vertex, or (ids from `vertices` on) its dangling mass.
    fn receive(&mut self, time: usize, (id, value): (u32, f32)) {
        if (id as usize) < self.vertices {
            self.sums[time & 1][(id >> self.shift) as usize] += value;
        } else {
            self.dangling[time & 1] += value as f64;
        }
    }

    /// Ends iteration `time`: its sums become ranks.
    fn update(&mut self, time: usize) {
        let n = self.vertices as f64;
        let dangling = std::mem::take(&mut self.dangling[time & 1]);
        let base = ((1.0 - DAMPING) / n + DAMPING * dangling / n) as f32;
        for (rank, sum) in self.ranks.iter_mut().zip(&mut self.sums[time & 1]) {
            *rank = base + DAMPING as f32 * std::mem::take(sum);
        }
    }

    /// Sets the shares from the ranks; returns the dangling mass.
    fn share(&mut self) -> f32 {
        let mut dangling = 0.0;
        for ((share, rank), degree) in self.shares.iter_mut().zip(&self.ranks).zip(&self.degrees) {
            if *degree == 0 {
                dangling += *rank as f64;
            } else {
                *share = rank / *degree as f32;
            }
        }
        dangling as f32
    }

    /// (destination, sum) of every destination of this worker's edges.
    fn combined(&self) -> impl Iterator<Item = (u32, f32)> + '_ {
        let mut begin = 0;
        self.ends[..self.vertices].iter().enumerate().filter_map(move |(d, &end)| {
            let sources = &self.sources[begin as usize..end as usize];
            begin = end;
            // Sound: a source is an index of this worker, below shares.len(), by construction.
            let share = |&s: &u32| unsafe { *self.shares.get_unchecked(s as usize) } as f64;
            (!sources.is_empty()).then(|| (d as u32, sources.iter().map(share).sum::<f64>() as f32))
        })
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().position(|a| a == name).map(|at| arguments[at + 1].clone());
    let option = |name: &str| given(name).unwrap_or_else(|| panic!("{name} is required"));
    let threads: usize = option("--threads").parse().expect("--threads");
    let iterations: usize = option("--iterations").parse().expect("--iterations");
    assert!(threads.is_power_of_two(), "--threads: a power of two");
    let config = given("--hosts").map_or(timely::Config::process(threads), |hosts| {
        let text = std::fs::read_to_string(&hosts).unwrap_or_else(|error| panic!("{hosts}: {error}"));
        let processes = text.lines().count();
        assert!(processes.is_power_of_two(), "--hosts: a power of two");
        let words = ["-w", &threads.to_string(), "-n", &processes.to_string(), "-p", &option("--process"), "-h", &hosts];
        timely::Config::from_args(words.map(String::from).into_iter()).unwrap_or_else(|error| panic!("{error}"))
    });

    let start = Instant::now();
    let graph = Arc::new(Graph::read(&arguments[1]).unwrap_or_else(|error| panic!("{}: {error}", arguments[1])));
    let vertices = graph.vertices();
    let result = Arc::new(Mutex::new((vec![0f32; vertices], Vec::new(), 0.0)));
    let shared = result.clone();
    timely::execute(config, move |worker| {
        let (index, workers) = (worker.index(), worker.peers());
        let mut part = Part::new(&graph, index, workers);
        let seconds_load = start.elapsed().as_secs_f64();
        let result = shared.clone();
        worker.dataflow::<usize, _, _>(|scope| {
            let (handle, sums) = scope.feedback::<Vec<(u32, f32)>>(1);
            let exchange = Exchange::new(|record: &(u32, f32)| record.0 as u64);
            sums.unary_frontier(exchange, "PageRank", move |capability, _| {
                let mut held = Some(capability);
                let mut last = Instant::now();
                let mut seconds = Vec::new();
                move |(input, frontier), output| {
                    input.for_each(|time, data| data.drain(..).for_each(|r| part.receive(*time.time(), r)));
                    let Some(capability) = &mut held else { return };
                    let time = *capability.time();
                    if time > 0 {
                        if frontier.less_equal(&time) {
                            return;
                        }
                        part.update(time);
                        seconds.push(last.elapsed().as_secs_f64());
                    }
                    last = Instant::now();
                    if time == iterations {
                        let mut whole = result.lock().unwrap();
                        for (local, &rank) in part.ranks.iter().enumerate() {
                            whole.0[local * workers + index] = rank;
                        }
                        whole.1 = std::mem::take(&mut seconds);
                        whole.2 = seconds_load;
                        held = None;
                        return;
                    }
                    let dangling = part.share();
                    let mut session = output.session(capability);
                    let first = part.vertices.next_multiple_of(workers);
                    session.give_iterator((0..workers).map(|worker| ((first + worker) as u32, dangling)));
                    session.give_iterator(part.combined());
                    drop(session);
                    capability.downgrade(&(time + 1));
                }
            })
            .connect_loop(handle);
        });
    })
    .expect("timely")
    .join()
    .into_iter()
    .for_each(|worker| worker.expect("a worker"));

    let result = result.lock().unwrap();
    let bytes: Vec<u8> = result.0.iter().flat_map(|rank| rank.to_le_bytes()).collect();
    File::create(option("--ranks")).and_then(|mut file| file.write_all(&bytes)).expect("--ranks");
    println!(r#"{{"version": "0.31.0", "seconds": {:?}, "seconds_load": {:.6}}}"#, result.1, result.2);
}
