import { inBrowser } from './bed.ts'
import { exports, finance } from './finance.ts'
import { keyboard, keysOfLists } from './keyboard.ts'
import { lists, rowActions } from './lists.ts'
import { support } from './support.ts'
import { savedFilters } from './tenants.ts'

inBrowser('lists and searches of the console', {
  filled: [finance, exports, keyboard, keysOfLists, rowActions, lists, support, savedFilters],
})
