/**
 * Does something to each, some at a time, and yields what comes of it in the order of the items. Of one key never two at a
 * time. What fails is thrown once the others of its time have ended.
 */
export async function* inWindows<T, R>(
  items: AsyncIterable<T>,
  { size, keyOf }: { readonly size: number; readonly keyOf: (item: T) => string },
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  let window = new Map<string, T>()
  const done = async () => {
    const settled = await Promise.allSettled([...window.values()].map(work))
    window = new Map()
    return settled.map((each) => {
      if (each.status === 'rejected') throw each.reason
      return each.value
    })
  }
  for await (const item of items) {
    if (window.size === size || window.has(keyOf(item))) yield* await done()
    window.set(keyOf(item), item)
  }
  yield* await done()
}
