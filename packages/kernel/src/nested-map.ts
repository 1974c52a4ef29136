/** Values by several ids, as maps in maps: ids need no separator, and cannot run into each other. */
export class NestedMap<K extends readonly [string, string, ...string[]], V> {
  readonly #root = new Map<string, unknown>()

  get(...path: K): V | undefined {
    let node: unknown = this.#root
    for (const id of path) {
      node = (node as Map<string, unknown>).get(id)
      if (node === undefined) return undefined
    }
    return node as V
  }

  set(path: K, value: V): void {
    let node = this.#root
    for (let i = 0; i < path.length - 1; i++) {
      let next = node.get(path[i]!) as Map<string, unknown> | undefined
      if (!next) node.set(path[i]!, (next = new Map()))
      node = next
    }
    node.set(path.at(-1)!, value)
  }
}
