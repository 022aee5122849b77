// PageRank by GraphX's own program, for graphx.py. EDGES: a text file of `source target`. Prints the seconds of runs with one
// and with ITERATIONS iterations, without loading, and the sum of the ranks divided by their number.
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

def seconds(iterations: Int): Double = {
  val start = System.nanoTime()
  val ranks = PageRank.run(graph, iterations, 0.15).vertices
  val mean = ranks.map(_._2).sum() / ranks.count()
  val taken = (System.nanoTime() - start) / 1e9
  println(s"figure mean $mean")
  taken
}
seconds(2)  // compiles
for (_ <- 1 to sys.env("ROUNDS").toInt)
  println(s"figure runs ${seconds(1)} ${seconds(sys.env("ITERATIONS").toInt)}")
System.exit(0)
