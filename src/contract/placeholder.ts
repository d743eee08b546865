/** What workflows of engines have in place of values: `{{name}}`, `{{name=default}}` or `{{name/divisor=default}}`. */
export const PLACEHOLDER = /\{\{([\w.]+)(?:\/(\d+(?:\.\d+)?))?(?:=([^{}]*))?\}\}/g;
