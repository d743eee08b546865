/** File names that always mean secrets. */
export const SECRET_FILES: readonly { readonly kind: string; readonly name: RegExp }[] = [
  {
    kind: 'environment file',
    name: /^\.env(?:rc)?(?:\.(?!(?:.*\.)?(?:example|sample|template|tmpl|dist|defaults?|schema)$).+)?$/i,
  },
  { kind: 'private key', name: /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/ },
  { kind: 'key store', name: /\.(?:p12|pfx|jks|keystore|ppk|kdbx)$/i },
  { kind: 'package registry credentials', name: /^\.pypirc$/ },
  { kind: 'network credentials', name: /^[._]netrc$/ },
  { kind: 'git credentials', name: /^\.git-credentials$/ },
  { kind: 'password file', name: /^\.(?:htpasswd|pgpass|my\.cnf)$/ },
];

/**
 * Keys and tokens with a known format. The patterns are bounded and have no nested repetition, so no text is slow to
 * search. Matches are shorter than the overlap of two chunks.
 */
export const SECRET_SHAPES: readonly { readonly kind: string; readonly shape: RegExp }[] = [
  {
    // Harmless code that reads keys often has the header alone; here, key material follows in lines or after `\n`.
    kind: 'private key',
    shape:
      /-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|["'+,]){1,20}(?:[A-Za-z-]{1,30}: [^\n]{0,200}\n\s{0,3}){0,4}[A-Za-z0-9+/=]{40,100}/g,
  },
  { kind: 'regen token', shape: /\bregen_(?:pat|key)_[A-Za-z0-9_-]{16,100}/g },
  { kind: 'AWS access key', shape: /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g },
  { kind: 'GitHub token', shape: /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b/g },
  { kind: 'GitLab token', shape: /\bglpat-[A-Za-z0-9_-]{20,60}/g },
  {
    kind: 'OpenAI key',
    shape:
      /\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,200}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})(?![A-Za-z0-9])/g,
  },
  { kind: 'Anthropic key', shape: /\bsk-ant-[a-z]{3,8}\d\d-[A-Za-z0-9_-]{60,200}/g },
  { kind: 'Hugging Face token', shape: /\bhf_[A-Za-z0-9]{34,60}\b/g },
  { kind: 'Replicate token', shape: /\br8_[A-Za-z0-9]{37}\b/g },
  { kind: 'Slack token', shape: /\bxox[abeoprs]-[A-Za-z0-9-]{24,250}/g },
  {
    kind: 'Slack webhook',
    shape: /hooks\.slack\.com\/services\/T[A-Z0-9]{6,14}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{20,30}/g,
  },
  {
    kind: 'Discord webhook',
    shape: /discord(?:app)?\.com\/api\/webhooks\/\d{15,22}\/[A-Za-z0-9_-]{60,80}/g,
  },
  { kind: 'Stripe key', shape: /\b(?:sk|rk)_live_[A-Za-z0-9]{20,200}\b/g },
  { kind: 'Google API key', shape: /\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g },
  { kind: 'service account key', shape: /"private_key_id"\s{0,4}:\s{0,4}"[0-9a-f]{40}"/g },
  { kind: 'npm token', shape: /\bnpm_[A-Za-z0-9]{36}\b/g },
  {
    kind: 'registry token',
    // Near the start of a line, so not in minified code. The line is looked at last, because this is slow.
    shape: /:_(?:authToken|password|auth)(?<=^[^\n]{0,210})\s?=\s?["']?(?!\$)[^\s"']{8,500}/gm,
  },
  { kind: 'PyPI token', shape: /\bpypi-AgEI[A-Za-z0-9_-]{50,300}/g },
  { kind: 'SendGrid key', shape: /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g },
];

/** Finds a part of each shape. One search for all of them is faster than one for each, and most texts have none. */
export const ANY_SHAPE =
  /PRIVATE KEY|regen_(?:pat|key)_|\b(?:A[KS]IA[A-Z2-7]{16}|gh[pousr]_|github_pat_|sk-[A-Za-z0-9]|hf_|r8_|xox[abeoprs]-|[sr]k_live_|npm_|pypi-AgEI|SG\.)|glpat-|hooks\.slack|webhooks\/\d|AIza|private_key_id|:_(?:auth|password)/;
