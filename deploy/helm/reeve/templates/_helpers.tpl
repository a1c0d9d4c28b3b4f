{{- define "reeve.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "reeve.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "reeve.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "reeve.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "reeve.selector" -}}
app.kubernetes.io/name: {{ include "reeve.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "reeve.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "reeve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "reeve.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "reeve.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Whether several gateways act as one. */ -}}
{{- define "reeve.isCluster" -}}
{{- if .Values.nats.existingSecret -}}true{{- end -}}
{{- end -}}

{{/* Mistakes that a schema cannot see. */ -}}
{{- define "reeve.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not (and .Values.database.existingSecret .Values.nats.existingSecret)) -}}
{{- fail "replicas: more than one gateway needs database.existingSecret and nats.existingSecret" -}}
{{- end -}}
{{- if and .Values.nats.existingSecret (not .Values.database.existingSecret) -}}
{{- fail "nats.existingSecret: NATS needs PostgreSQL, so set database.existingSecret, too" -}}
{{- end -}}
{{- if and .Values.nats.credsSecret (not .Values.nats.existingSecret) -}}
{{- fail "nats.credsSecret: set nats.existingSecret, too, which has the URL" -}}
{{- end -}}
{{- range $name, $_ := .Values.settings -}}
{{- if regexMatch "^(http_addr|grpc_addr|data_dir|policy|tls_cert|public_grpc_addr|forward)$|_(secret|pass|key|url|creds|headers)$" $name -}}
{{- fail (printf "settings.%s: the chart has a value of its own for this, or it is a secret and belongs in secretSettings" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
