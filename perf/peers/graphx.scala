// PageRank by GraphX's own program, for graphx.py. EDGES: a text file of `source target`. Prints the seconds of runs with one
// and with ITERATIONS iterations, without loading, and the bytes that this host's card eth0 has sent and received meanwhile (0 where
// there is none), and the sum of the ranks divided by their number.
import org.apache.spark.graphx._
import org.apache.spark.graphx.lib.PageRank
import org.apache.spark.storage.StorageLevel

val parts = sys.env("PARTS").toInt
val edges = sc.textFile(sys.env("EDGES"), parts).map { line =>
  val space = line.indexWhere(c => c == ' ' || c == '\t')
  Edge(line.substring(0, space).toLong, line.substring(space + 1).trim.toLong, 1)
}
val graph = Graph.fromEdges(edges, 1, StorageLevel.MEMORY_ONLY, StorageLevel.MEMORY_ONLY).partitionBy(PartitionStrategy.EdgePartition2D, parts).cache()
println(s"figure vertices ${graph.vertices.count()}")
println(s"figure edges ${graph.edges.count()}")
val holders = graph.edges.mapPartitions(_ => Iterator(org.apache.spark.SparkEnv.get.executorId)).distinct().count()
println(s"figure holders $holders")

def linkBytes(): Double = List("tx", "rx").map { way =>
  val counter = new java.io.File(s"/sys/class/net/eth0/statistics/${way}_bytes")
  if (sys.env.contains("LINK") && counter.exists) scala.io.Source.fromFile(counter).mkString.trim.toDouble else 0.0
}.sum

def secondsAndBytes(iterations: Int): (Double, Double) = {
  val before = linkBytes()
  val start = System.nanoTime()
  val ranks = PageRank.run(graph, iterations, 0.15).vertices
  val mean = ranks.map(_._2).sum() / ranks.count()
  val taken = (System.nanoTime() - start) / 1e9
  println(s"figure mean $mean")
  (taken, linkBytes() - before)
}
secondsAndBytes(2)  // compiles
for (_ <- 1 to sys.env("ROUNDS").toInt) {
  val (one, bytesOfOne) = secondsAndBytes(1)
  val (all, bytesOfAll) = secondsAndBytes(sys.env("ITERATIONS").toInt)
  println(s"figure runs $one $all $bytesOfOne $bytesOfAll")
}
System.exit(0)
