/** Separates the host's frontend, which is not a package to install: its version states the supported frontends. */
export function splitFrontend(dependencies: readonly string[]) {
  const frontendPackage = /^[a-z0-9._-]+-frontend-package(?![a-z0-9._-])\s*(?:\[[^\]]*\])?([^;]*)/i;
  const frontend = dependencies.map((dependency) => frontendPackage.exec(dependency.trim())?.[1]);
  return {
    dependencies: dependencies.filter((dependency) => !frontendPackage.test(dependency.trim())),
    frontend: frontend.find((version) => version !== undefined)?.replaceAll(/[\s()]/g, '') || undefined,
  };
}

/** `Operating System :: POSIX :: Linux` becomes `POSIX :: Linux`. Returns undefined if there are none. */
export function selectClassifiers(
  classifiers: readonly string[],
  prefix: string,
  wanted: RegExp,
): string[] | undefined {
  const values = classifiers
    .filter((classifier) => classifier.startsWith(prefix))
    .map((classifier) => classifier.slice(prefix.length).trim())
    .filter((value) => wanted.test(value));
  return values.length > 0 ? [...new Set(values)] : undefined;
}

/** Labels are compared like in package indexes: case, spaces and punctuation are ignored. */
export function findRepository(urls: Readonly<Record<string, string>>): string | undefined {
  const byLabel = new Map(
    Object.entries(urls).map(([label, url]) => [
      label.toLowerCase().replaceAll(/[^a-z0-9]/g, ''),
      url.trim(),
    ]),
  );
  const labels = ['repository', 'repo', 'source', 'sourcecode', 'github', 'code'];
  const found = labels.map((label) => byLabel.get(label)).find(Boolean);
  const homepage = byLabel.get('homepage');
  return (
    found ??
    (homepage && /^https:\/\/(?:github|gitlab|codeberg)\.(?:com|org)\//.test(homepage) ? homepage : undefined)
  );
}

/** Finds the first of PEP 639's `license-files` if it is a plain path; older tools use other types. */
export function findLicenseFile(licenseFiles: unknown): string | undefined {
  const first: unknown = Array.isArray(licenseFiles) ? licenseFiles[0] : undefined;
  return typeof first === 'string' && !/[*?[]/.test(first) ? first : undefined;
}
