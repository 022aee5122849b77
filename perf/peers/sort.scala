// Spark's sortBy of lines: reads the files of INPUT, and writes the parts of OUTPUT. Says how long that took, without the start of
// the machine.
val begin = System.nanoTime
sc.textFile(sys.env("INPUT")).sortBy(line => line).saveAsTextFile(sys.env("OUTPUT"))
println(s"figure seconds ${(System.nanoTime - begin) / 1e9}")
System.exit(0)
