import cluster from 'node:cluster'

/** What a worker and the process that started it send each other. */
export type FromWorker =
  | { readonly svc: 'ready' }
  | { readonly svc: 'metrics wanted'; readonly request: number }
  | { readonly svc: 'own metrics'; readonly request: number; readonly text: string }
export type ToWorker =
  | { readonly svc: 'send metrics'; readonly request: number }
  | { readonly svc: 'metrics'; readonly request: number; readonly text: string }

/** The end of a worker: its metrics are those of all workers, whichever of them is scraped. */
export class WorkerLink {
  readonly #waiting = new Map<number, (text: string) => void>()
  #requests = 0
  #own: () => Promise<string> = async () => ''

  constructor() {
    process.on('message', (message: ToWorker) => void this.#receive(message))
  }

  /** The link of this process, where it is a worker. */
  static open(): WorkerLink | undefined {
    return cluster.isWorker ? new WorkerLink() : undefined
  }

  ready(): void {
    this.#send({ svc: 'ready' })
  }

  /** Of what reports the metrics of this process, what reports those of all workers. */
  metricsOfAll(own: () => Promise<string>): () => Promise<string> {
    this.#own = own
    return () =>
      new Promise((resolve) => {
        const request = this.#requests++
        this.#waiting.set(request, resolve)
        this.#send({ svc: 'metrics wanted', request })
      })
  }

  /** Lets the process end, which the link would keep running. */
  close(): void {
    cluster.worker?.disconnect()
  }

  async #receive(message: ToWorker): Promise<void> {
    if (message.svc === 'send metrics')
      this.#send({ svc: 'own metrics', request: message.request, text: await this.#own() })
    else if (message.svc === 'metrics') {
      this.#waiting.get(message.request)?.(message.text)
      this.#waiting.delete(message.request)
    }
  }

  #send(message: FromWorker): void {
    if (process.connected) process.send!(message, () => undefined)
  }
}
