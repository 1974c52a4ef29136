/** The dialog that asks is loaded after the page: an action may need it before it is there. */
const DIALOG_LOADS_MS = 10_000
const POLL_MS = 50

/** A question to the person in a dialog over the page, one at a time for all who ask it; resolves with whether they did it. */
export class Question {
  /** The shell provides it while its dialog is there. */
  dialog: (() => Promise<boolean>) | undefined
  #asking: Promise<boolean> | undefined

  ask(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<boolean> {
    const untilMs = performance.now() + DIALOG_LOADS_MS
    while (!this.dialog && performance.now() < untilMs)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    return this.dialog?.() ?? false
  }
}
