{{- define "gpu-metrics.labels" -}}
app.kubernetes.io/name: gpu-metrics
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
fleet.example.org/team: platform
{{- end -}}
