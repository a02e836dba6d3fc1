from dgme.cli import main

main()
