// An etcd server: upstream's own main.
package main

import (
	"io"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	go endWithParent()
	etcdmain.Main(os.Args)
}

// endWithParent exits when stdin closes, so that no server outlives a test run that was killed.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
