/** Is told what a publish is doing. */
export interface PublishReport {
  note(text: string): Promise<void>;
  warn(text: string): Promise<void>;
}

/** Shows the stages of a long operation, and how far the current one is. */
export interface Stages {
  stage(text: string): Promise<void>;
  update(detail: string): void;
  /** Shows the number of transferred bytes. */
  transferred(done: number, total: number | undefined): void;
  end(): void;
}
