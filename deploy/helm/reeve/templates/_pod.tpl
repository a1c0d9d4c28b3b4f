{{/* The pod of a gateway, for the Deployment and the StatefulSet. */ -}}
{{- define "reeve.pod" -}}
{{- $scheme := ternary "HTTPS" "HTTP" (ne .Values.tls.existingSecret "") -}}
metadata:
  labels:
    {{- include "reeve.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # Settings are read at the start, so a change of them starts the pods anew. Policies are followed.
    checksum/settings: {{ include "reeve.settings" . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "reeve.serviceAccountName" . }}
  automountServiceAccountToken: false
  # The gateway refuses variables that start with SVC_ and that it does not know, and a service may have such a name.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  containers:
    - name: gateway
      image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve, --config, /etc/reeve/settings/settings.yaml]
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: grpc, containerPort: 50051 }
      env:
        - { name: SVC_DATA_DIR, value: /var/lib/reeve/data }
        {{- if .Values.database.existingSecret }}
        - name: SVC_DATABASE_URL
          valueFrom: { secretKeyRef: { name: {{ .Values.database.existingSecret }}, key: {{ .Values.database.key }} } }
        {{- end }}
        {{- if .Values.nats.existingSecret }}
        - name: SVC_NATS_URL
          valueFrom: { secretKeyRef: { name: {{ .Values.nats.existingSecret }}, key: {{ .Values.nats.key }} } }
        {{- end }}
        {{- if .Values.nats.credsSecret }}
        - { name: SVC_NATS_CREDS, value: /etc/reeve/nats/nats.creds }
        {{- end }}
        {{- if .Values.bootstrapKey.existingSecret }}
        - name: SVC_BOOTSTRAP_API_KEY
          valueFrom:
            secretKeyRef: { name: {{ .Values.bootstrapKey.existingSecret }}, key: {{ .Values.bootstrapKey.key }} }
        {{- end }}
        {{- range $name, $from := .Values.secretSettings }}
        - name: SVC_{{ $name | upper }}
          valueFrom: { secretKeyRef: { name: {{ $from.secret }}, key: {{ $from.key }} } }
        {{- end }}
        {{- if .Values.tls.existingSecret }}
        - { name: SVC_TLS_CERT, value: /etc/reeve/tls/tls.crt }
        - { name: SVC_TLS_KEY, value: /etc/reeve/tls/tls.key }
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      startupProbe:
        httpGet: { path: /healthz, port: http, scheme: {{ $scheme }} }
        periodSeconds: 2
        failureThreshold: {{ div (add .Values.startupSeconds 1) 2 }}
      livenessProbe:
        httpGet: { path: /healthz, port: http, scheme: {{ $scheme }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        {{- if include "reeve.isCluster" . }}
        # While NATS is away, /readyz of all gateways is 503, and yet they decide: a service without any pod would be an
        # outage. The gRPC port opens once the gateway is in step with the others, and closes when it drains.
        tcpSocket: { port: grpc }
        {{- else }}
        httpGet: { path: /readyz, port: http, scheme: {{ $scheme }} }
        {{- end }}
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      lifecycle:
        preStop:
          # Until the service has forgotten this pod, it still gets calls.
          exec: { command: [sleep, {{ .Values.stopDelaySeconds | quote }}] }
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /var/lib/reeve }
        - { name: tmp, mountPath: /tmp }
        - { name: settings, mountPath: /etc/reeve/settings, readOnly: true }
        {{- if .Values.policies }}
        - { name: policies, mountPath: /etc/reeve/policies, readOnly: true }
        {{- end }}
        {{- if .Values.tls.existingSecret }}
        - { name: tls, mountPath: /etc/reeve/tls, readOnly: true }
        {{- end }}
        {{- if .Values.database.caSecret }}
        - { name: database-ca, mountPath: /etc/reeve/database, readOnly: true }
        {{- end }}
        {{- if .Values.nats.credsSecret }}
        - { name: nats-creds, mountPath: /etc/reeve/nats, readOnly: true }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- if .Values.database.existingSecret }}
    # Everything that lasts is in PostgreSQL.
    - { name: data, emptyDir: {} }
    {{- end }}
    - { name: tmp, emptyDir: {} }
    - { name: settings, configMap: { name: {{ include "reeve.fullname" . }}-settings } }
    {{- if .Values.policies }}
    - { name: policies, configMap: { name: {{ include "reeve.fullname" . }}-policies } }
    {{- end }}
    {{- if .Values.tls.existingSecret }}
    - { name: tls, secret: { secretName: {{ .Values.tls.existingSecret }}, defaultMode: 0440 } }
    {{- end }}
    {{- if .Values.database.caSecret }}
    - { name: database-ca, secret: { secretName: {{ .Values.database.caSecret }}, defaultMode: 0440 } }
    {{- end }}
    {{- if .Values.nats.credsSecret }}
    - { name: nats-creds, secret: { secretName: {{ .Values.nats.credsSecret }}, defaultMode: 0440 } }
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- if .Values.topologySpreadConstraints }}
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "reeve.selector" . | nindent 10 }}
    {{- end }}
{{- end -}}

{{/* The settings file. */ -}}
{{- define "reeve.settings" -}}
{{- $service := include "reeve.fullname" . -}}
{{- $names := list $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) (printf "%s.%s.svc.cluster.local" $service .Release.Namespace) -}}
{{- $own := dict "allowed_hosts" (join "," (compact (append $names (get .Values.settings "allowed_hosts")))) -}}
{{- if .Values.publicUrl }}{{ $_ := set $own "public_url" .Values.publicUrl }}{{ end -}}
{{- if .Values.publicGrpcAddr }}{{ $_ := set $own "public_grpc_addr" .Values.publicGrpcAddr }}{{ end -}}
{{- if .Values.policies }}{{ $_ := set $own "policy" "/etc/reeve/policies" }}{{ end -}}
{{- toYaml (merge $own .Values.settings) -}}
{{- end -}}
