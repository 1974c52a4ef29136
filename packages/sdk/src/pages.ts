/** One page of a list. */
export interface Page<T> {
  readonly data: readonly T[]
  /** Where the next page begins; absent on the last one. */
  readonly next?: string
}

/**
 * A list that is fetched page by page, as it is read: `for await (const item of list)`. The next page is requested when
 * the last item of this one was taken, so that a slow reader holds one page and no more. Reading it again sends new requests.
 */
export class Paged<T> implements AsyncIterable<T> {
  readonly #fetchPage: (after: string | undefined) => Promise<Page<T>>

  constructor(fetchPage: (after: string | undefined) => Promise<Page<T>>) {
    this.#fetchPage = fetchPage
  }

  /** One page, for a list that people turn the pages of: give its `next` back for the page after it. */
  page(after?: string): Promise<Page<T>> {
    return this.#fetchPage(after)
  }

  /** The pages themselves. */
  async *pages(): AsyncGenerator<readonly T[], void, undefined> {
    let after: string | undefined
    do {
      const { data, next } = await this.#fetchPage(after)
      yield data
      after = next
    } while (after !== undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page
  }

  /** The first items, at most so many. */
  async take(countMax: number): Promise<T[]> {
    const taken: T[] = []
    if (countMax > 0)
      for await (const item of this) {
        taken.push(item)
        if (taken.length >= countMax) break
      }
    return taken
  }
}
