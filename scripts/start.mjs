// `npm start`: compiles if something changed, then serves, both in this one process.
await import('./build.mjs')
process.argv[2] = 'serve'
await import(new URL('../dist/cli.js', import.meta.url).href)
