/** The host's frontend is not a package to install; its version says which frontends the pack works with. */
export function splitFrontend(dependencies: readonly string[]) {
  const frontendPackage = /^[a-z0-9._-]+-frontend-package(?![a-z0-9._-])\s*(?:\[[^\]]*\])?([^;]*)/i;
  const frontend = dependencies.map((dependency) => frontendPackage.exec(dependency.trim())?.[1]);
  return {
    dependencies: dependencies.filter((dependency) => !frontendPackage.test(dependency.trim())),
    frontend: frontend.find((version) => version !== undefined)?.replaceAll(/[\s()]/g, '') || undefined,
  };
}

/** `Operating System :: POSIX :: Linux` becomes `POSIX :: Linux`. Absent where no classifier says anything. */
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

/** Labels are compared as package indexes do: without regard to case, spaces and punctuation. */
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

/** The first of PEP 639's `license-files` where it is a plain path; older tools write other things there. */
export function findLicenseFile(licenseFiles: unknown): string | undefined {
  const first: unknown = Array.isArray(licenseFiles) ? licenseFiles[0] : undefined;
  return typeof first === 'string' && !/[*?[]/.test(first) ? first : undefined;
}
