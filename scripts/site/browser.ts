/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
// Search and copy buttons; a page is whole without them.
import MiniSearch from 'minisearch'
import { OPTIONS, SEARCH } from './search.ts'

const RESULTS_MAX = 12

for (const code of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(code.querySelector('pre')?.innerText ?? '').then(() => {
      button.textContent = 'Copied'
      setTimeout(() => (button.textContent = 'Copy'), 1_500)
    })
  })
  code.append(button)
}

const current = document.querySelector<HTMLElement>('nav [aria-current]')
// Not scrollIntoView, which moves the page too.
if (current) current.closest('nav')!.scrollTop = current.offsetTop - innerHeight / 2

const input = document.querySelector<HTMLInputElement>('search input')!
const list = document.querySelector<HTMLOListElement>('search ol')!

async function load(): Promise<MiniSearch> {
  const response = await fetch(new URL('search.json', import.meta.url))
  return MiniSearch.loadJSON(await response.text(), OPTIONS as never)
}
let loading: Promise<MiniSearch> | undefined
const index = () => (loading ??= load())

function item({ url, title, page }: Record<string, string>): HTMLLIElement {
  const link = document.createElement('a')
  link.href = url ?? ''
  link.textContent = title ?? ''
  if (page !== title) {
    const of = document.createElement('small')
    of.textContent = page ?? ''
    link.append(of)
  }
  const line = document.createElement('li')
  line.append(link)
  return line
}

async function search(): Promise<void> {
  const wanted = input.value
  const found = wanted.trim() ? (await index()).search(wanted, SEARCH) : []
  // What was typed meanwhile has its own results.
  if (wanted !== input.value) return
  list.replaceChildren(...found.slice(0, RESULTS_MAX).map((each) => item(each as never)))
  list.hidden = found.length === 0
}

function move(step: 1 | -1): void {
  const links = [...list.querySelectorAll('a')]
  const at = links.findIndex((link) => link === document.activeElement)
  ;(links[at + step] ?? input).focus()
}

input.addEventListener('focus', () => void index())
input.addEventListener('input', () => void search())
document.addEventListener('keydown', (event) => {
  const isShortcut =
    (event.key === '/' && document.activeElement !== input) ||
    (event.key === 'k' && (event.metaKey || event.ctrlKey))
  if (isShortcut) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'Escape') {
    list.hidden = true
    input.blur()
  } else if (event.key === 'Enter' && document.activeElement === input) {
    list.querySelector('a')?.click()
  } else if (!list.hidden && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault()
    move(event.key === 'ArrowDown' ? 1 : -1)
  }
})
