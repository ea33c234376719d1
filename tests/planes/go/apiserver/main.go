// A kube-apiserver: upstream's own command, with the metrics that its release binary registers.
package main

import (
	"io"
	"os"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	go endWithParent()
	// The identity of a replica is a hash of its host name, which replicas on one machine would share.
	if name := os.Getenv("APFTOP_PLANE_HOSTNAME"); name != "" {
		server.SetHostnameFuncForTests(name)
	}
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}

// endWithParent exits when stdin closes, so that no server outlives a test run that was killed.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
